"""Names of functions in Go, which begin with the path of their package."""

import re

_RECEIVER_OR_TYPES = re.compile(r"[(\[]")
"""The beginning of a receiver, or of the types of a generic function: both may name packages, too."""


def package_of(function: str) -> str:
    """Return the package of a function.

    >>> package_of("net/http.(*conn).serve"), package_of("example.com/shop/cart.Total.func1")
    ('net/http', 'example.com/shop/cart')
    """
    plain = _RECEIVER_OR_TYPES.split(function)[0]
    folder, slash, rest = plain.rpartition("/")
    return f"{folder}{slash}{rest.partition('.')[0]}"


def is_own_in_go(function: str, file: str = "") -> bool:
    """Whether a function is the program's own: not of the standard library, nor of a module that was fetched."""
    package = package_of(function)
    is_standard = "." not in package.partition("/")[0] and package != "main"
    return not is_standard and "/pkg/mod/" not in file and "/vendor/" not in file
