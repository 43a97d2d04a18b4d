"""Time travel without the C extension: what `_travel` does as far as Python can do it; it does less."""
