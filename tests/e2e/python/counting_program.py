"""A program that counts for ever."""

count = 0
while True:
    count += 1
