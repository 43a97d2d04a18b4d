"""Adds up orders; a process of its own packs them."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Order:
    name: str
    price: int
    quantity: int = 1


def total_of(orders, discount=0):
    total = 0
    for order in orders:
        total += order.price * order.quantity
    return total - discount


def pack(count):
    worker = Path(__file__).with_name("worker.py")
    return subprocess.run([sys.executable, worker, str(count)], check=True)


orders = [Order("tea", 4, 2), Order("cup", 7)]
print("total", total_of(orders))
pack(len(orders))
print("done")
