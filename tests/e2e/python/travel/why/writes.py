"""Values in dicts, attributes and elsewhere, whose last writes lie far behind."""


class Shop:
    kind = "corner"

    def __init__(self):
        self.total = 0
        self.sold = {}

    def sell(self, name, price):
        self.sold[name] = price
        self.total += price


class Box:
    __slots__ = ("size",)


def count_to(number):
    reached = 0
    for step in range(number):
        reached += step
    return reached


def set_counter(value):
    global counter
    counter = value


def replace(shop):
    shop.__dict__ = {"total": 40, "sold": {"tea": 4}}


counter = 0
far = 1
shop = Shop()
shop.sell("tea", 4)
other = Shop()
other.sell("milk", 2)
other.total = 9
prices = {"tea": 4, "milk": 2, "bread": 0}
prices["tea"] = 5
prices.update(milk=3)
alias = prices
alias["bread"] = 1
nested = {"a": {"b": 1}}
nested["a"]["b"] = 2
inner = nested["a"]
nested["a"] = {"b": 3}
inner["b"] = 7
flag = False
flag = True
flag = False
box = Box()
box.size = 3
box.size = 4
replaced = Shop()
replace(replaced)
set_counter(5)
gone = 1
del gone
gone = 2
Shop.kind = "other"
numbers = [1]
numbers.append(2)
by_key = {0: "zero", True: "one"}
by_key[0] = "null"
by_key[1.0] = "uno"
emptied = {"a": 1}
emptied.clear()
emptied["a"] = 2
count_to(30_000)
for turn in range(25):
    marker = True
    shop.total = 4
count_to(30_000)
print("end")

# watch: shop.total, shop.sold, other.total, prices["tea"], prices["milk"], prices["bread"], nested["a"]["b"]
# watch: inner["b"], by_key[0], by_key[1], emptied["a"], box.size
