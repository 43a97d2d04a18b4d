"""Asks for a name in its terminal."""

import os

print("terminal", os.isatty(0), os.environ.get("ADDED"))
name = input("name? ")
print("hello", name)
raise SystemExit(4)
