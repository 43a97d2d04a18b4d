"""A sum over twenty items."""


def total(items):
    result = 0
    for item in items:
        result += item["price"] * item["qty"]
    return result


print(total([{"id": n, "price": n * 10, "qty": n % 4} for n in range(20)]))
