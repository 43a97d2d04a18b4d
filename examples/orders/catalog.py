"""What the shop sells, and what its discount codes are worth."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Item:
    """Something for sale; prices in whole cents."""

    name: str
    price: int
    cost: int


ITEMS = {
    item.name: item
    for item in (
        Item("teapot", 3200, 1900),
        Item("kettle", 5400, 3100),
        Item("cup", 650, 240),
        Item("saucer", 420, 150),
    )
}

CODES = {"SPRING": Fraction(1, 4), "LOYAL": Fraction(1, 4)}
