"""Documents of random content, written and read as JSON and by pickle, and what compressors and hashes make of them."""

import hashlib
import json
import pickle
import random
import string
import zlib
from dataclasses import asdict, dataclass, field


@dataclass
class Order:
    number: int
    customer: str
    lines: list = field(default_factory=list)
    paid: bool = False


def word(size):
    return "".join(random.choices(string.ascii_letters + "äöü€", k=size))


def order(number):
    made = Order(number, word(8), paid=number % 3 == 0)
    for _ in range(random.randrange(1, 6)):
        made.lines.append({"what": word(5), "price": round(random.random() * 100, 2), "count": random.randrange(9)})
    return made


def default(value):
    if isinstance(value, set):
        return sorted(value)
    raise TypeError(type(value).__name__)


s_sizes = []
s_digests = []
for s_round in range(30):
    orders = [order(number) for number in range(20)]
    text = json.dumps(
        {"orders": list(map(asdict, orders)), "names": {each.customer for each in orders}}, default=default
    )
    again = json.loads(text, parse_float=str)
    total = sum(float(line["price"]) * line["count"] for each in again["orders"] for line in each["lines"])
    packed = zlib.compress(pickle.dumps(orders))
    assert pickle.loads(zlib.decompress(packed)) == orders
    s_sizes.append((len(text), len(packed), round(total, 2)))
    s_digests.append(hashlib.sha256(text.encode()).hexdigest()[:12])
    if s_round % 10 == 9:
        print(json.dumps(s_sizes[-1], indent=1))
try:
    json.dumps(orders)
except TypeError as error:
    s_error = str(error)
pass
