"""Texts that are taken apart by regular expressions, counted, sorted and put together again."""

import collections
import difflib
import random
import re
import textwrap

TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z_]\w*)|(?P<operator>[-+*/()=])|(?P<space>\s+)", re.I)
chosen = random.Random(11)
names = ["alpha", "beta", "gamma_2", "Delta", "x", "y1"]


def formula(depth):
    if depth == 0:
        return chosen.choice(names) if chosen.random() < 0.6 else f"{chosen.random() * 10:.2f}"
    left, right = formula(depth - 1), formula(chosen.randrange(depth))
    return f"({left} {chosen.choice('+-*/')} {right})"


def tokens(text):
    for found in TOKEN.finditer(text):
        if found.lastgroup != "space":
            yield found.lastgroup, found.group()


def value(parts):
    kind, text = next(parts)
    if kind == "number":
        return float(text)
    if kind == "name":
        return float(len(text))
    left = value(parts)
    operator = next(parts)[1]
    right = value(parts)
    next(parts)
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left / right if right else 0.0


s_values = []
s_counts = collections.Counter()
s_pages = []
for s_round in range(60):
    text = formula(4)
    found = list(tokens(text))
    s_counts.update(kind for kind, _ in found)
    s_values.append(round(value(iter(found)), 6))
    swapped = re.sub(r"\b([a-z])(\w*)\b", lambda match: match[2] + match[1].upper(), text)
    s_pages.append(textwrap.shorten(swapped, 40))
    if s_round % 15 == 0:
        matcher = difflib.SequenceMatcher(None, text, swapped)
        print(f"{s_round}: {matcher.ratio():.3f}")
s_sorted = sorted(s_pages, key=lambda page: (len(page), page))[:5]
pass
