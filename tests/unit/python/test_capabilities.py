"""What the Python adapter announces: everything, flag by flag and list by list."""

import pytest

from adapter_client import client_of
from dapkit.protocol import Capabilities
from dapkit.python.adapter import PythonAdapter

NOT_YET = "supports_step_back"


@pytest.mark.parametrize("name", [name for name in Capabilities.__struct_fields__ if name != NOT_YET])
async def test_every_capability_is_announced_or_carries_its_list(name: str) -> None:
    async with client_of(PythonAdapter()) as client:
        announced = getattr(await client.initialize(), name)
    assert announced is True or (isinstance(announced, list) and announced)
