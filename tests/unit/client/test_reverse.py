"""Terminals that adapters ask for."""

import json

from client_fixtures import able, driven
from dapkit.protocol import RunInTerminalRequestArguments, ThreadsBody
from dapkit.testing import Script, ask, failure, raw, reply, response

ANSWERED = reply(ThreadsBody(threads=[]))


def asking(wanted: RunInTerminalRequestArguments) -> Script:
    """Ask for a terminal when the client asks for threads."""
    return able({"threads": [ask(wanted), ANSWERED]})


async def test_adapter_is_told_the_process_that_it_asked_for() -> None:
    wanted = RunInTerminalRequestArguments(args=["cat"], cwd="/", title="a cat")
    async with driven(asking(wanted)) as both:
        await both.session.launch({})
        await both.session.threads()
        [terminal] = both.session.terminals
        both.timeline.expect(response("runInTerminal", process_id=terminal.pid))
        await terminal.send_input("hello\n\x04")
        assert await terminal.wait() == 0
        assert terminal.read().text == "hello\r\nhello\r\n"
        assert terminal.title == "a cat"


async def test_terminal_without_a_folder_is_given_ours() -> None:
    message = {"seq": 77, "type": "request", "command": "runInTerminal", "arguments": {"args": ["pwd"]}}
    payload = json.dumps(message).encode()
    frame = b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)
    async with driven(able({"threads": [raw(frame), ANSWERED]})) as both:
        await both.session.launch({})
        await both.session.threads()
        terminal = await both.session.wait_for_terminal()
        assert await terminal.wait() == 0
        assert [str(violation.path) for violation in both.session.violations][-1] == "$.arguments.cwd"


async def test_terminal_that_cannot_be_had_is_an_error_for_the_adapter_alone() -> None:
    payload = b'{"seq":77,"type":"request","command":"runInTerminal","arguments":{"args":["/no/such"],"cwd":"/"}}'
    frame = b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)
    async with driven(able({"threads": [raw(frame), ANSWERED]})) as both:
        await both.session.launch({})
        await both.session.threads()
        await both.timeline.wait_for(failure("runInTerminal"))
        assert both.session.terminals == ()


async def test_program_in_a_terminal_ends_with_the_session() -> None:
    wanted = RunInTerminalRequestArguments(args=["sleep", "60"], cwd="/")
    async with driven(asking(wanted)) as both:
        await both.session.launch({})
        await both.session.threads()
        [terminal] = both.session.terminals
    assert terminal.returncode is not None
