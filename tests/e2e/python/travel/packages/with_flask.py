"""Requests to an application of Flask by its test client."""

from flask import Flask, jsonify, request, session

app = Flask(__name__)
app.secret_key = "not a secret"
stock = {"tea": 3}


@app.get("/stock/<name>")
def show(name):
    return jsonify(name=name, count=stock[name])


@app.post("/stock/<name>")
def add(name):
    stock[name] = stock.get(name, 0) + request.get_json()["count"]
    session["last"] = name
    return jsonify(last=session["last"], count=stock[name])


@app.errorhandler(KeyError)
def missing(error):
    return {"missing": str(error)}, 404


s_answers = []
with app.test_client() as client:
    for number in range(6):
        s_answers.append(client.post(f"/stock/item{number % 2}", json={"count": number}).get_json())
    s_found = client.get("/stock/item1").get_json()
    s_missing = client.get("/stock/none")
s_status = (s_missing.status_code, s_missing.get_json())
s_total = sum(stock.values())
print(s_answers[-1], s_found, s_status, s_total)
