"""Requests without `arguments`: fine wherever nothing in them is needed."""

import msgspec
import pytest

from dapkit.endpoint import Endpoint, RequestReceived, Role
from dapkit.endpoint.receiver import ALL_THREADS, INSTEAD_OF_NOTHING
from dapkit.protocol import COMMANDS, CommandSpec, Direction
from raw_peer import RawPeer, raw_client

ASKED = [spec for spec in COMMANDS.values() if spec.direction is Direction.CLIENT_TO_ADAPTER]


def needs(spec: CommandSpec) -> list[str]:
    """Return the fields that the arguments of a command must have; others have a value if they are left out."""
    names = [field.encode_name for field in msgspec.structs.fields(spec.arguments) if field.required]
    return [name for name in names if name not in INSTEAD_OF_NOTHING.get(spec.command, {})]


def peer_before(spec: CommandSpec) -> RawPeer:
    """Return a client that may send this command now."""
    match spec.command:
        case "initialize":
            return RawPeer(Endpoint(Role.ADAPTER))
        case "launch" | "attach":
            return raw_client()
    peer = raw_client()
    [asked] = peer.ask("launch", {})
    assert isinstance(asked, RequestReceived)
    return peer


@pytest.mark.parametrize(
    "spec",
    [spec for spec in ASKED if not needs(spec) and spec.command not in ("cancel", *INSTEAD_OF_NOTHING)],
    ids=lambda spec: spec.command,
)
def test_request_that_needs_no_argument_is_taken_without(spec: CommandSpec) -> None:
    peer = peer_before(spec)
    before = len(peer.endpoint.violations.kept)
    [asked] = peer.ask(spec.command)
    assert isinstance(asked, RequestReceived)
    assert asked.request.arguments == spec.arguments()
    noted = [(one.path, one.problem) for one in peer.endpoint.violations.kept[before:]]
    assert noted == ([] if spec.arguments_optional else [("$.arguments", "required field is missing")])


@pytest.mark.parametrize("spec", [spec for spec in ASKED if needs(spec)], ids=lambda spec: spec.command)
def test_request_without_a_needed_argument_is_refused_by_its_name(spec: CommandSpec) -> None:
    peer = peer_before(spec)
    peer.hear()
    assert peer.ask(spec.command) == []
    [answer] = peer.hear()
    assert answer["success"] is False
    assert answer["message"] == f"{spec.command}: $.arguments.{needs(spec)[0]}: required field is missing"


@pytest.mark.parametrize("command", ["continue", "pause"])
@pytest.mark.parametrize("arguments", [None, {}, {"threadId": None}])
def test_request_that_names_no_thread_means_all(command: str, arguments: object) -> None:
    peer = peer_before(COMMANDS[command])
    [asked] = peer.ask(command, arguments)
    assert isinstance(asked, RequestReceived)
    assert asked.request.arguments == COMMANDS[command].arguments(thread_id=ALL_THREADS)
    assert peer.endpoint.violations.kept[-1].path == "$.arguments.threadId"
