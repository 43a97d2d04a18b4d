"""A shop of Flask, visited by its test client: sessions, forms, templates, errors and a streamed answer."""

import random
import time

from flask import Flask, abort, g, jsonify, render_template_string, request, session, stream_with_context

app = Flask(__name__)
app.secret_key = random.randbytes(16)
stock = {"apple": 5, "pear": 3, "plum": 0}
s_log = []


@app.before_request
def begin():
    g.began = time.monotonic()


@app.after_request
def note(response):
    s_log.append((request.method, request.path, response.status_code, time.monotonic() - g.began))
    return response


@app.get("/")
def index():
    return render_template_string(
        "{% for name, left in stock.items() %}{{ name|title }}: {{ left }}\n{% endfor %}", stock=stock
    )


@app.post("/buy/<name>")
def buy(name):
    if name not in stock:
        abort(404)
    count = request.form.get("count", 1, type=int)
    if stock[name] < count:
        return jsonify(error=f"only {stock[name]} left"), 409
    stock[name] -= count
    basket = session.setdefault("basket", [])
    basket.append([name, count])
    session.modified = True
    return jsonify(basket=basket, when=time.time())


@app.get("/receipt")
def receipt():
    def lines():
        for name, count in session.get("basket", []):
            yield f"{count} {name}\n"

    return app.response_class(stream_with_context(lines()), mimetype="text/plain")


@app.get("/broken")
def broken():
    return str(1 // len(request.args))


@app.errorhandler(ZeroDivisionError)
def sorry(error):
    return f"{type(error).__name__}: {error}", 500


s_answers = []
for s_visitor in range(4):
    with app.test_client() as client:
        s_answers.append(client.get("/").get_data(as_text=True))
        for name in ("apple", "pear", "plum", "melon"):
            answer = client.post(f"/buy/{name}", data={"count": str(random.randrange(1, 3))})
            s_answers.append((answer.status_code, answer.get_data()))
        s_answers.append(client.get("/receipt").text)
        s_answers.append((client.get("/broken").status_code, client.get("/broken?a=1").text))
        s_cookie = str(client.get_cookie("session"))
s_stock = dict(stock)
pass
