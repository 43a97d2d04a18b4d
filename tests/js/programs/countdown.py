def count_down(start: int) -> str:
    left = start
    while left:
        print(left)
        left -= 1
    return "lift off"


print(count_down(3))
