"""A default that is changed: the second basket has the items of the first."""


def fill(items, basket=[]):
    for item in items:
        basket.append(item)
    return basket


def total(prices, items):
    return sum(prices[item] for item in items)


PRICES = {"tea": 4, "milk": 1, "bread": 3}
print(total(PRICES, fill(["tea", "milk"])))
print(total(PRICES, fill(["bread"])))
