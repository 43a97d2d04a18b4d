"""Annotations of the engine's functions, which nobody reads there, take no memory in the program."""

import pytest

from e2e.engine.conftest import Start

pytestmark = pytest.mark.each_python

ANNOTATED = """
[
    f"{module}.{value.__qualname__}"
    for module, names in __import__("_codecs").lookup_error("dapkit.engine")("loader").modules()
    if module.startswith("_dapkit_debuggee.") and module != "_dapkit_debuggee.loader"
    for kind in (names, *(value for value in vars(names).values() if isinstance(value, type)))
    if kind is names or kind.__module__ == module
    for value in vars(kind).values()
    if type(value) is type(lambda: None) and value.__globals__ is vars(names) and value.__annotations__
]
"""


def test_functions_of_the_engine_have_no_annotations_in_the_program(start: Start) -> None:
    with start("x = 1  # stop\n") as peer:
        peer.configure(lines=[1])
        peer.stopped("breakpoint")
        assert peer.value(" ".join(ANNOTATED.split())) == "[]"
        peer.go()
        assert peer.finish()[0] == 0
