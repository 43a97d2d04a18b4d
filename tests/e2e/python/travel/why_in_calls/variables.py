"""Variables of a call: of loops, exceptions, assignments in expressions, and of recursive and suspended functions.

watch: a = a, b = b, step = step, error = error, found = found, first = first, second = second, same = same, deep = deep
watch: swapped = swapped, counted = counted, gone = gone, text = text, part = part, whole = whole
"""


def inner(number):
    a = number
    b = a * 2
    return a + b


def down(depth):
    deep = depth
    if depth:
        down(depth - 1)
    return deep


def halves(number):
    try:
        return number / 0
    except ZeroDivisionError as raised:
        return str(raised)


def show(count):
    a = 1
    b = 2
    same = 3
    deep = 0
    gone = 4
    del gone
    gone = 5
    counted = 0
    for step in range(count):
        a = inner(step)
        counted += 1
        same = 3
        if step == 17:
            b = inner(9)
    print(found := halves(a))
    first, second = a, b
    try:
        error = "none"
        halves(None)
    except TypeError as raised:
        error = type(raised).__name__
    deep = down(5)
    first, second = second, first
    swapped = (first, second)
    text = "x"
    text += "y"
    part = inner(3)
    whole = [number for number in range(3)]
    print("end")
    return swapped, text, part, whole, error, found, counted, same, deep, gone


show(20_000)
