"""What the Python adapter announces: everything, flag by flag and list by list."""

from unittest.mock import MagicMock

import msgspec
import pytest

from dapkit.protocol import COMMANDS, Capabilities
from dapkit.python.adapter import PythonAdapter
from dapkit.python.debuggee.requests.capabilities import DETAILS, FLAGS, ONLY_WHEN_DEBUGGING, capabilities
from dapkit.python.debuggee.requests.dispatch import HANDLERS, initialize
from sdk_client import client_of

NOT_YET = "supports_step_back"


@pytest.mark.parametrize("name", [name for name in Capabilities.__struct_fields__ if name != NOT_YET])
async def test_every_capability_is_announced_or_carries_its_list(name: str) -> None:
    async with client_of(PythonAdapter()) as client:
        announced = getattr(await client.initialize(), name)
    assert announced is True or (isinstance(announced, list) and announced)


async def test_adapter_announces_what_the_engine_does_and_little_more() -> None:
    async with client_of(PythonAdapter()) as client:
        announced = msgspec.to_builtins(await client.initialize())
    assert announced | capabilities() == announced
    assert announced.keys() - capabilities().keys() == {
        "breakpointModes",
        "supportsANSIStyling",
        "supportsRestartRequest",
    }


def test_all_that_is_announced_has_a_handler() -> None:
    assert FLAGS.keys() | DETAILS.keys() <= HANDLERS.keys()
    assert set(ONLY_WHEN_DEBUGGING) <= capabilities().keys()


def test_flags_of_handlers_are_those_that_the_protocol_has_for_their_commands() -> None:
    gates = {spec.command: spec.capability for spec in COMMANDS.values() if spec.capability is not None}
    names = dict(zip(Capabilities.__struct_fields__, Capabilities.__struct_encode_fields__, strict=True))
    assert {command: flag for command, flag in FLAGS.items() if names[gates[command]] != flag} == {}
    assert {
        command for command in HANDLERS.keys() & gates.keys() if names[gates[command]] not in capabilities()
    } == set()


def test_engine_answers_initialize_with_them() -> None:
    assert initialize(MagicMock(), MagicMock()) == capabilities()
