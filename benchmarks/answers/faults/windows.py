"""Off by one: the last window is never looked at."""


def best(numbers, size):
    highest = None
    for start in range(len(numbers) - size):
        window = sum(numbers[start : start + size])
        if highest is None or window > highest:
            highest = window
    return highest


print(best([1, 2, 3, 9, 9], 2))
