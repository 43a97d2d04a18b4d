"""Variables that functions share: of this call, of a call around it, and of one that has ended.

watch: count = of(add,'count'), rows = of(add,'rows'), rows[1] = of(add,'rows')[1], flag = of(add,'flag')
watch: number_of_shop = of(show,'number_of_shop'), pair[1] = of(add,'pair')[1]
watch: prices['tea'] = of(add,'prices')['tea'], prices[name] = of(add,'prices')['tea'], total = total
watch: own = of(grow_now[0],'own'), best = of(grow_now[0],'best'), late = of(show,'late')
"""


def of(function, name):
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents


def make(number_of_shop):
    count = 0
    rows = []
    flag = None
    pair = (1, [2])
    prices = {}

    def add(number):
        nonlocal count, flag, late
        count += number
        rows.append(number)
        if number > 3:
            flag = "high"
            pair[1].append(number)
        prices["tea"] = number + 1
        late = "now"

    def show(step, name):
        own = 1
        best = 0

        def grow():
            nonlocal own, best
            own += step
            best = max(own, best)

        grow_now[0] = grow
        for _ in range(3):
            grow()
        total = count + len(rows) + len(pair) + len(prices) + number_of_shop + (flag is None) + (late is None)
        print("end")

    late = None
    return add, show


def spin(count):
    for _ in range(count):
        pass


grow_now = [None]
for number in range(5):
    add, show = make(number)
    add(1)
spin(30_000)
add(5)
spin(30_000)
add(2)
spin(30_000)
show(3, "tea")
