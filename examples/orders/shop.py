"""Book a day's orders and print their receipts.

Run it: the numbers look right at first, then the shop gives its goods away.
"""

import csv
import sys
from pathlib import Path

from ledger import Ledger, Order
from receipts import Printer


def read_orders(path: Path) -> list[Order]:
    """Orders of a CSV file with the columns number, customer, item, quantity, code."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Order(int(row["number"]), row["customer"], row["item"], int(row["quantity"]), row["code"])
            for row in csv.DictReader(file)
        ]


def main() -> None:
    """Book everything; the receipts come out beside it."""
    orders = read_orders(Path(__file__).with_name("orders.csv"))
    ledger = Ledger()
    with Printer() as printer:
        print(f"{len(orders)} orders", flush=True)
        for order in orders:
            booking = ledger.book(order)
            printer.bookings.put(booking)
    print(f"margin on average {float(sum(b.margin for b in ledger.bookings) / len(orders)):.0%}")


if __name__ == "__main__":
    sys.exit(main())
