"""Packs parcels, in a process of its own."""

import sys

count = int(sys.argv[1])
parcels = [f"parcel {number}" for number in range(count)]
print("packed", ", ".join(parcels))
