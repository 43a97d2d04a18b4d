"""Ten lines that compute something."""


def compute(a):
    b = a * 2
    c = b + 3
    d = c * c
    e = d - a
    f = [b, c, d]
    g = sum(f)
    h = {"sum": g, "rest": e}
    i = h["sum"] % 7
    j = i or -1
    return j + b


print(compute(5))
