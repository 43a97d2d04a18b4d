"""Errors of the layers below, in the words of the contract."""

from pathlib import Path

import pytest

from action_fixtures import Caller
from dapkit import limits
from dapkit.agent.calls.explanations import explain
from dapkit.agent.handler import ActionHandler
from dapkit.catalog import NoAdapter
from dapkit.client import AdapterDied
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import Capabilities, DapkitError
from dapkit.sessions.errors import NameTaken, NoFrame, NoSession, NoThreads
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import reply
from dapkit.transport import ConversationLost, DeadlineExceeded
from fake_adapters import script, start


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (NoSession(), "no_session", "No active debug session. Launch or attach first."),
        (NoFrame(), "not_stopped", "No active stack frame. Run stack_trace first or supply frame_id."),
        (NoThreads(), "not_stopped", "Debugger reported no threads."),
        (
            CapabilityMissing("memory reads", "supportsReadMemoryRequest", "adapter"),
            "unsupported",
            "Current adapter does not support memory reads",
        ),
        (DeadlineExceeded("stackTrace", 7.5), "timeout", "DAP request stackTrace timed out after 7500ms"),
        (
            AdapterDied("it hung up", exit_code=3, stderr="no license\n"),
            "adapter_failed",
            "DAP adapter exited (code 3): no license",
        ),
        (AdapterDied("it hung up", exit_code=-9), "adapter_failed", "DAP adapter exited unexpectedly (code -9)"),
        (
            AdapterDied("it hung up"),
            "adapter_failed",
            "DAP connection closed: the debug adapter is gone: it hung up",
        ),
        (ConversationLost("closed"), "adapter_failed", "DAP adapter gdb is not running"),
        (RequestFailed("no symbol x"), "adapter_failed", "no symbol x"),
        (RequestFailed("it runs", message="notStopped"), "not_stopped", "it runs"),
        (RequestFailed("notStopped", message="notStopped"), "not_stopped", "The program runs, and has to be stopped"),
        (NoAdapter("adapter 'dlv' is not available: no", hints=("a", "b")), "adapter_unavailable", "adapter 'dlv' is"),
        (NameTaken("debug-1"), "invalid_arguments", "Debug session debug-1 is still active."),
    ],
)
def test_an_error_is_told_in_the_words_of_the_contract(error: DapkitError, code: str, text: str) -> None:
    explained = explain(error, adapter="gdb")
    assert explained.code == code
    assert str(explained).startswith(text)


async def test_a_program_that_does_not_stop_is_told_after_the_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ACTION_SECONDS_LEAST", 0.1)
    deaf = script({"stackTrace": [], "pause": [reply()]}, Capabilities(supports_configuration_done_request=True))
    async with SessionRegistry() as sessions:
        await sessions.open(tmp_path, start(deaf))
        code, message = (await Caller(ActionHandler(sessions), tmp_path)("pause", timeout=0.1)).error
    assert (code, message) == ("timeout", "DAP event stopped timed out after 100ms")


@pytest.mark.parametrize(
    ("action", "arguments", "what"),
    [
        ("read_memory", {"memory_reference": "0x1", "count": 4}, "memory reads"),
        ("write_memory", {"memory_reference": "0x1", "data": "AAAA"}, "memory writes"),
        ("disassemble", {"instruction_count": 4}, "disassembly"),
        ("modules", {}, "module introspection"),
        ("loaded_sources", {}, "loaded sources"),
        ("set_instruction_breakpoint", {"instruction_reference": "0x1"}, "instruction breakpoints"),
        ("remove_instruction_breakpoint", {"instruction_reference": "0x1"}, "instruction breakpoints"),
        ("data_breakpoint_info", {"name": "x"}, "data breakpoints"),
        ("set_data_breakpoint", {"data_id": "x"}, "data breakpoints"),
        ("remove_data_breakpoint", {"data_id": "x"}, "data breakpoints"),
        ("step_back", {}, "stepping back"),
        ("reverse_continue", {}, "running backwards"),
        ("goto", {"file": "a.py", "line": 1}, "going to another line"),
        ("exception_info", {}, "exception details"),
        ("completions", {"expression": "a"}, "completions"),
    ],
)
async def test_what_an_adapter_lacks_is_named(
    tmp_path: Path, action: str, arguments: dict[str, object], what: str
) -> None:
    plain = script({}, Capabilities(supports_configuration_done_request=True))
    async with SessionRegistry() as sessions:
        await sessions.open(tmp_path, start(plain))
        answer = await Caller(ActionHandler(sessions), tmp_path)(action, **arguments)
    assert answer.error == ("unsupported", f"Current adapter does not support {what}")
    assert "\nIt lacks supports" in answer.text


async def test_disassembly_needs_an_address_where_the_stop_has_none(tmp_path: Path) -> None:
    able = Capabilities(supports_configuration_done_request=True, supports_disassemble_request=True)
    async with SessionRegistry() as sessions:
        await sessions.open(tmp_path, start(script({}, able)))
        answer = await Caller(ActionHandler(sessions), tmp_path)("disassemble", instruction_count=4)
    assert answer.error == (
        "invalid_arguments",
        "disassemble requires memory_reference unless the current stop location has an instruction pointer reference",
    )
