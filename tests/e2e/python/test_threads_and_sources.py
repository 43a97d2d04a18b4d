"""Threads, stacks, exceptions and sources through the whole adapter."""

import pytest

from dapkit.client import Stopped
from dapkit.protocol import (
    ExceptionFilterOptions,
    ExceptionInfoArguments,
    LoadedSourcesArguments,
    ModulesArguments,
    SetExceptionBreakpointsArguments,
    SourceArguments,
    StackFrameFormat,
    StackTraceArguments,
    TerminateThreadsArguments,
    ThreadsArguments,
)
from e2e.python.adapter_client import AdapterClient


async def stop(driver: AdapterClient) -> Stopped:
    state = await driver.session.settled()
    assert isinstance(state, Stopped)
    return state


@pytest.mark.row("terminateThreads")
async def test_thread_is_listed_shown_and_ended(driver: AdapterClient) -> None:
    await driver.start(
        """
        import threading
        def work(n):
            while True: n += 1
        t = threading.Thread(target=work, args=(1,), name="worker")
        t.start()
        x = 1
        t.join()
        """,
        6,
    )
    await stop(driver)
    connection = driver.session
    listed = (await connection.request(ThreadsArguments())).threads
    assert [(thread.id, thread.name) for thread in listed] == [(1, "MainThread"), (2, "worker")]
    form = StackFrameFormat(parameters=True, parameter_names=True, line=True)
    stack = await connection.request(StackTraceArguments(thread_id=2, levels=1, format=form))
    assert stack.stack_frames[0].name in ("work(n):2", "work(n):3")
    await connection.request(TerminateThreadsArguments(thread_ids=[2]))
    state = await driver.resume()
    assert getattr(state, "exit_code", None) == 0


@pytest.mark.row("source")
async def test_modules_and_sources_are_listed_and_served(driver: AdapterClient) -> None:
    await driver.start("def f():\n    pass\nexec('y = 1\\nf()')\n", 2)
    await stop(driver)
    connection = driver.session
    frames = (await connection.request(StackTraceArguments(thread_id=1))).stack_frames
    made = frames[1].source
    assert made is not None
    assert made.source_reference
    body = await connection.request(SourceArguments(source_reference=made.source_reference))
    assert body.content == "y = 1\nf()"
    page = await connection.request(ModulesArguments(start_module=0, module_count=3))
    assert (len(page.modules), (page.total_modules or 0) > 3) == (3, True)
    listed = (await connection.request(LoadedSourcesArguments())).sources
    [mine] = [source for source in listed if source.path == str(driver.file)]
    assert [checksum.algorithm for checksum in mine.checksums or ()] == ["SHA256", "MD5", "timestamp"]


@pytest.mark.row("setExceptionBreakpoints")
async def test_exception_breakpoint_with_a_condition(driver: AdapterClient) -> None:
    await driver.start(
        """
        def f(what):
            try:
                raise what
            except Exception: pass
        x = 1
        f(ValueError(1)); f(KeyError(2))
        """,
        5,
    )
    await stop(driver)
    connection = driver.session
    options = [ExceptionFilterOptions(filter_id="raised", condition="KeyError")]
    answer = await connection.request(SetExceptionBreakpointsArguments(filters=[], filter_options=options))
    assert [one.verified for one in answer.breakpoints or ()] == [True]
    state = await driver.resume()
    assert isinstance(state, Stopped)
    info = await connection.request(ExceptionInfoArguments(thread_id=1))
    assert (info.exception_id, info.break_mode) == ("KeyError", "always")
