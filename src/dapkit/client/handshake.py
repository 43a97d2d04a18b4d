"""Launch and attach, right for every order in which adapters take the steps.

The specification lets an adapter answer `launch` when it likes, and they do:

    initialized before launch is sent          rdbg, cmake
    response before initialized                lldb-dap 19, php-debug, Perl, ansibug
    response around initialized                delve, cdt-gdb, robotcode
    response only after configurationDone      lldb-dap 22, gdb, debugpy, js-debug
    initialized twice                          js-debug
    no initialized at all                      some

So the request is sent and not waited for; the configuration follows as soon as
`initialized` came, or the adapter showed that it will not come. Of several errors the error of `launch` itself says
most: it is awaited for a short time, and comes first.
"""

from collections.abc import Awaitable, Callable

import anyio

from dapkit import limits as shared_limits
from dapkit.client import limits
from dapkit.client.errors import StartRefused
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError, InitializeRequestArguments
from dapkit.transport import StateChange, background_tasks


class _BackgroundRequest:
    """Requests that are made in the background, and how they ended."""

    def __init__(self, updates: StateChange) -> None:
        self.done = False
        self.error: DapkitError | None = None
        self._updates = updates

    async def run(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except DapkitError as error:
            self.error = error
        self.done = True
        self._updates.notify()

    @property
    def failed(self) -> bool:
        return self.error is not None


async def run_handshake(
    command: str,
    *,
    start: Callable[[], Awaitable[object]],
    configure: Callable[[], Awaitable[None]],
    initialized: Callable[[], bool],
    under_way: Callable[[], bool],
    updates: StateChange,
) -> None:
    """Start a session and configure it.

    Args:
        command: `launch` or `attach`, for error texts.
        start: sends it and waits for its response, until its own deadline.
        configure: sends breakpoints and configurationDone.
        initialized: whether the adapter said that it is ready for these.
        under_way: whether the program evidently runs, stands or has ended already.
        updates: notified whenever either may have changed.

    Raises:
        StartRefused: the adapter refused to start.
        DapkitError: another error, if the launch itself gave no reason.

    """
    answer, configuration = _BackgroundRequest(updates), _BackgroundRequest(updates)
    async with background_tasks() as tasks:
        tasks.start_soon(answer.run, start)
        await updates.until(lambda: initialized() or answer.done)
        if not answer.failed:
            with anyio.move_on_after(limits.INITIALIZED_SECONDS):
                await updates.until(lambda: initialized() or under_way())
            tasks.start_soon(configuration.run, configure)
            await updates.until(lambda: configuration.done or answer.failed)
        if configuration.failed:
            with anyio.move_on_after(shared_limits.START_ERROR_SECONDS):
                await updates.until(lambda: answer.done)
        else:
            await updates.until(lambda: answer.done)
    if isinstance(answer.error, RequestFailed):
        raise StartRefused(command, answer.error, configuration=configuration.error) from answer.error
    if (error := answer.error or configuration.error) is not None:
        raise error


def introduction(adapter_id: str) -> InitializeRequestArguments:
    """Return the client's capabilities, and none that it lacks.

    Example:
        >>> from dapkit.protocol import changed
        >>> changed(introduction("python"), client_id="vscode", lines_start_at1=False).supports_memory_references
        True

    """
    return InitializeRequestArguments(
        client_id="dapkit",
        client_name="dapkit",
        adapter_id=adapter_id,
        locale="en-US",
        lines_start_at1=True,
        columns_start_at1=True,
        path_format="path",
        supports_variable_type=True,
        supports_variable_paging=True,
        supports_run_in_terminal_request=True,
        supports_memory_references=True,
        supports_progress_reporting=True,
        supports_invalidated_event=True,
        supports_memory_event=True,
        supports_start_debugging_request=True,
    )
