"""A division by zero, three calls deep."""


def unit_price(amount, divisor):
    return amount / divisor


def price_of(item):
    return unit_price(item["price"], item["qty"])


def report(items):
    return [price_of(item) for item in items]


report([{"id": n, "price": n * 10, "qty": 3 - n} for n in range(6)])
