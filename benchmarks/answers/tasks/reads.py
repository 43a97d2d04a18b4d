"""A program that reads its input."""

name = input()
print(f"hello {name}")
