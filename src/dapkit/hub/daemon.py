"""The hub's process: detached from the one that started it, on one socket, until it is idle.

Decided here: when it ends. That is after `hub.idle_seconds` without a caller
and without anything that lives, at a `hub.stop`, or at a signal; each way the
sessions are ended properly, and within `limits.ORDERLY_END_SECONDS`. If it is killed, the guards of `transport` end its
children.
"""

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.hub import wire
from dapkit.hub.caller import serve_caller
from dapkit.hub.calls import CallHandler, HandlerFactory, ReportProgress, ShowPart, read_call
from dapkit.hub.daily_log import DailyLog
from dapkit.hub.errors import CallRefused, HubError
from dapkit.hub.folder import SOCKET, runtime_folder
from dapkit.hub.spawn import report_ready
from dapkit.settings import Settings
from dapkit.system.signals import end_within
from dapkit.system.started_processes import detach
from dapkit.transport import TransportError, background_tasks, listen_unix
from dapkit.transport.signals import signals_to_end
from dapkit.transport.tasks import loop_options

log = logging.getLogger(__name__)


def run(handler_factory: HandlerFactory) -> None:
    """Run the hub: return in the process that was started, and serve in a child of it until the end.

    Example:
        if __name__ == "__main__":
            run(actions)    # an async context manager that takes the settings and yields a CallHandler

    """
    if not detach():  # the process that started it may live long, and would have to wait for it
        return
    daily = DailyLog()
    logging.basicConfig(level=logging.INFO, handlers=[daily])
    try:
        socket, settings = Path(runtime_folder(), SOCKET), Settings.load(None)
        anyio.run(_live, handler_factory, socket, settings, daily, backend_options=loop_options())
    except (TransportError, HubError) as error:
        log.error("%s", error)  # noqa: TRY400 - the text is enough
        raise SystemExit(1) from None
    except Exception:
        log.exception("the hub failed")
        raise SystemExit(1) from None


async def _live(handler_factory: HandlerFactory, socket: Path, settings: Settings, daily: DailyLog) -> None:
    async with handler_factory(settings) as handler:
        hub = _Hub(handler, settings)
        async with background_tasks() as tasks:
            tasks.start_soon(hub.end_at_signal)
            tasks.start_soon(hub.end_when_idle)
            async with listen_unix(socket, hub.serve):
                log.info("dapkit %s listens at %s", wire.VERSION, socket)
                report_ready()
                daily.ready = True
                await hub.over.wait()
                end_within(limits.ORDERLY_END_SECONDS)  # even if something hangs
    log.info("ended")


class _Hub:
    """The hub's knowledge of its callers.

    Attributes:
        over: set when it is to end; from then on no call is begun.

    """

    def __init__(self, handler: CallHandler, settings: Settings) -> None:
        self.over = anyio.Event()
        self._handler = handler
        self._settings = settings
        self._started = datetime.now(UTC)
        self._last_use = anyio.current_time()
        self._callers = 0
        self._calls = 0

    async def serve(self, stream: ByteStream) -> None:
        """Serve one caller."""
        if self.over.is_set():
            return
        self._callers += 1
        try:
            greeting = {"hub": "dapkit", "protocol": wire.PROTOCOL, "version": wire.VERSION, "pid": os.getpid()}
            await serve_caller(stream, greeting, self._answer)
        finally:
            self._callers -= 1
            self._last_use = anyio.current_time()

    async def end_when_idle(self) -> None:
        """End after a time without callers and without sessions."""
        while True:
            await anyio.sleep(min(self._settings.hub_idle_seconds, self._settings.session_sweep_seconds))
            idle = anyio.current_time() - self._last_use
            if not self._callers and not self._handler.busy() and idle >= self._settings.hub_idle_seconds:
                log.info("ending after %.0f s without use", idle)
                self.over.set()
                return

    async def end_at_signal(self) -> None:
        """End at a signal; a second one has its usual effect."""
        with signals_to_end() as signals:
            async for number in signals:
                log.info("ending because of %s", number.name)
                break
        self.over.set()

    async def _answer(self, message: Mapping[str, object], report: ReportProgress, show: ShowPart) -> dict[str, object]:
        match message:
            case {"call": wire.STATUS}:
                return self._status()
            case {"call": wire.STOP, "arguments": {"if_idle": True}} if self._handler.busy() or self._calls:
                return {"stopping": False}
            case {"call": wire.STOP}:
                self.over.set()
                return {"stopping": True}
        if self.over.is_set():
            raise CallRefused(wire.ENDING, "the hub is about to end", hint="Try again.")
        self._calls += 1
        try:
            return await self._handler.handle(await read_call(message, report, show))
        finally:
            self._calls -= 1

    def _status(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "version": wire.VERSION,
            "protocol": wire.PROTOCOL,
            "folder": str(runtime_folder()),
            "started": self._started.isoformat(timespec="seconds"),
            "callers": self._callers,
            "calls": self._calls,
            "busy": self._handler.busy(),
        }
