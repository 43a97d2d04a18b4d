"""Rows of a table that say whether a figure is as it should be."""


def row(what: str, figure: float, unit: str, most: float | None = None) -> bool:
    """Print a row; return whether it is as it should be."""
    goal = "" if most is None else f"{most:8,.1f} {'yes' if figure <= most else 'NO'}"
    print(f"{what:62} {figure:9,.2f} {unit:4} {goal}", flush=True)
    return most is None or figure <= most
