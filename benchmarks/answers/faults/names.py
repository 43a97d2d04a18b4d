"""A wrong encoding: names with accents are not found."""

from pathlib import Path

FOLDER = Path(__file__).parent


def load(path):
    with path.open(encoding="latin-1") as file:
        return dict(line.rstrip("\n").split(";") for line in file)


def look(names, name):
    return names.get(name, "unknown")


target = FOLDER / "names.csv"
target.write_text("Zoë;4\nAda;7\n", encoding="utf-8")
print(look(load(target), "Zoë"))
