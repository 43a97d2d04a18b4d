"""The contents of a Python program's heap.

dapkit's own adapter has a request for it, which needs no stop. Other adapters for Python evaluate the same code, for
which the program must be stopped: a pause that dapkit requested and that takes effect late would stop the program at an
unexpected time.
"""

import ast
from pathlib import Path

import anyio.to_thread

from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed
from dapkit.agent.calls.registry import Approval, query
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.diagnostics import HeapResult
from dapkit.endpoint import RequestFailed
from dapkit.protocol import EvaluateArguments, from_json_value
from dapkit.protocol.heap import HeapArguments, HeapBody
from dapkit.python import debuggee
from dapkit.python.debuggee.interpreter import limits as in_program
from dapkit.sessions.errors import SessionOver

_SOURCE = Path(debuggee.__file__).with_name("heap.py")

_DEBUGGERS = ("debugpy", "pydevd", "_pydevd_", "_pydev_", "pydev_")
"""First words of the names of debugpy's modules."""

_FOLDERS = ("/debugpy/", "<dapkit: heap>")
"""Parts of the paths of its files, and of dapkit's."""


@query(Approval.EXECUTE, without_secrets=True)
async def heap(call: ActionCall) -> HeapResult:
    """Return the contents of the program's heap, by type, by holder, and by line.

    Secrets are left out of its names, since they are kept in a file; in a thread, as there may be thousands of them.
    """
    session = call.session
    if session.state.over:
        raise SessionOver(session.name, session.state.ending)
    if session.traits.heap_request:
        body = await session.requests.ask_beyond(HeapArguments(), HeapBody, deadline=call.left)
    elif not session.traits.python_expressions:
        raise ActionFailed("unsupported", f"{session.adapter} does not debug Python: it knows nothing of its objects.")
    elif session.state.stop is None:
        raise ActionFailed(
            "not_stopped",
            f"The program runs, and {session.adapter} looks at its objects only while it stands.",
            hint="Pause it, or stop it at a breakpoint; programs that dapkit's own adapter debugs may run.",
        )
    else:
        call.progress("counting objects")
        body = await _evaluated(call)
    result = HeapResult(snapshot=snapshot(session), heap=body)
    return await anyio.to_thread.run_sync(call.remembered.redaction.result, result)


async def _evaluated(call: ActionCall) -> HeapBody:
    frame = await call.session.requests.frame()

    async def evaluate(expression: str) -> str:
        request = EvaluateArguments(expression=expression, frame_id=frame, context="clipboard")
        return (await call.requests.ask(request)).result

    try:
        read_file = "(lambda file: (file.read(), file.close())[0])"
        result = await evaluate(_expression(f"{read_file}(builtins.open({str(_SOURCE)!r}, encoding='utf-8'))"))
    except RequestFailed:  # the program has other files; debuggers may quote a long expression in a remark on its time
        result = await evaluate(_expression(repr(_SOURCE.read_text(encoding="utf-8"))))
    try:
        heap = ast.literal_eval(ast.literal_eval(result))
    except (ValueError, SyntaxError) as error:
        text = f"What {call.session.adapter} has evaluated is not a snapshot: {result:.200}"
        raise ActionFailed("adapter_failed", text) from error
    return from_json_value(HeapBody, heap)


def _expression(source: str) -> str:
    """Return an expression whose value is the text of a snapshot.

    It leaves no name and no module behind, and no circle: its namespace is emptied.

    Args:
        source: an expression for the text of `heap`.

    """
    options = {
        "seconds": in_program.HEAP_SECONDS,
        "most": in_program.HEAP_OBJECTS,
        "rows": in_program.HEAP_ROWS,
        "trace_bytes": in_program.HEAP_TRACE_BYTES,
        "debuggers": _DEBUGGERS,
        "folders": _FOLDERS,
    }
    return (
        "(lambda names, builtins, modules, before: ("
        f"builtins.exec(builtins.compile({source}, '<dapkit: heap>', 'exec'), names),"
        f" '%r' % names['snapshot'](**{options!r}),"
        " names.clear(), [modules.pop(name) for name in [*modules] if name not in before])[1]"
        ")({}, __import__('builtins'), __import__('sys').modules, {*__import__('sys').modules})"
    )
