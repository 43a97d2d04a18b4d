"""A name that is bound late: each handler sees the last rate."""


def handlers(rates):
    result = []
    for rate in rates:
        result.append(lambda amount: amount * rate)
    return result


def charge(amount, rates):
    return [handler(amount) for handler in handlers(rates)]


print(charge(100, [1, 2, 3]))
