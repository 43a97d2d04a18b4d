"""Receipts are written by a thread of their own, so that booking never waits for them."""

import queue
import threading

from ledger import Booking


class Printer(threading.Thread):
    """Print a receipt for each booking that is put into its queue; None ends it."""

    def __init__(self) -> None:
        super().__init__(name="receipts", daemon=True)
        self.bookings: queue.SimpleQueue[Booking | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Print until None comes."""
        while (booking := self.bookings.get()) is not None:
            order = booking.order
            print(
                f"  {order.customer:<8} {order.quantity:>3} x {order.item:<7} {float(booking.total) / 100:>9.2f}",
                flush=True,
            )
