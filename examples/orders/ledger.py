"""The books: what each order brings in, and what is left of it."""

from dataclasses import dataclass, field
from fractions import Fraction

from catalog import CODES, ITEMS


@dataclass(frozen=True)
class Order:
    """One line of the order file."""

    number: int
    customer: str
    item: str
    quantity: int
    code: str


@dataclass(frozen=True)
class Booking:
    """An order with its money: total in cents, margin as a share of it."""

    order: Order
    total: Fraction
    margin: Fraction


@dataclass
class Ledger:
    """Bookings in the order they were made."""

    bookings: list[Booking] = field(default_factory=list)

    def book(self, order: Order) -> Booking:
        """Price an order, discounts taken off, and keep it."""
        item = ITEMS[order.item]
        discount = sum(discounts_of(order), Fraction(0))
        total = item.price * order.quantity * (1 - discount)
        cost = item.cost * order.quantity
        booking = Booking(order, total, margin(total, cost))
        self.bookings.append(booking)
        return booking


def discounts_of(order: Order, found: list[Fraction] = []) -> list[Fraction]:  # noqa: B006 - the fault to be found
    """Discounts that an order is entitled to."""
    if order.code:
        found.append(CODES[order.code])
    return found


def margin(total: Fraction, cost: int) -> Fraction:
    """Share of the total that is left after the cost."""
    return (total - cost) / total
