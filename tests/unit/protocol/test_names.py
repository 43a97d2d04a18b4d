"""What `from dapkit.protocol import *` brings."""

import dapkit.protocol
from dapkit.protocol import generated


def test_all_names_of_the_protocol_are_listed() -> None:
    assert set(generated.__all__) <= set(dapkit.protocol.__all__), "list what the generator has added in __init__.py"
    assert all(hasattr(dapkit.protocol, name) for name in dapkit.protocol.__all__)
