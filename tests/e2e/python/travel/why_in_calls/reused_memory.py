"""Objects that lie where others of their class were before.

watch: last.x = latest.x, last.y = latest.y, kept.x = kept_one.x, items[0] = row[0], names['a'] = entries['a']
"""


class Point:
    def __init__(self, x):
        global latest
        latest = self
        self.x = x
        self.y = 1


def many(count):
    global latest, row, entries
    for number in range(count):
        latest = None
        point = Point(number % 2)
        point.y = 2
        row = entries = None
        row = [number, 0]
        row[0] = 3
        entries = {"a": number}
        entries["a"] = 4
        del point


def show(last, kept, items, names):
    print("end")
    return last, kept, items, names


kept_one = Point(0)
many(5000)
kept_one.x = 7
many(3001)
show(latest, kept_one, row, entries)
