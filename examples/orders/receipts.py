"""Receipts are written by a thread of their own, so that booking never waits for them."""

import queue
import threading
from typing import Self

from ledger import Booking


class Printer(threading.Thread):
    """Print a receipt for each booking that is put into its queue, also for those that wait when it is left."""

    def __init__(self) -> None:
        super().__init__(name="receipts", daemon=True)
        self.bookings: queue.SimpleQueue[Booking | None] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        """Begin to print."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Print what is waiting, and end."""
        self.bookings.put(None)
        self.join()

    def run(self) -> None:
        """Print until None comes."""
        while (booking := self.bookings.get()) is not None:
            order = booking.order
            print(
                f"  {order.customer:<8} {order.quantity:>3} x {order.item:<7} {float(booking.total) / 100:>9.2f}",
                flush=True,
            )
