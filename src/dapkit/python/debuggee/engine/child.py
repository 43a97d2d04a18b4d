"""A process that a debugged program has started, or a fork of it: the beginning of its session.

    started, or forked --arrives at the door--> waits --a session comes--> configuring --> runs, debugged
                                                  |
                                                  +-- the door is closed --> keeps running undebugged

It is debugged as a program that a client has come to, but for its first line of code, which waits for the client. The
helpers of `multiprocessing` have no session: the server of forks only shows its forks the way.
"""

import _thread
import atexit
import os
import sys

from .. import loader
from ..children import launch_hooks
from ..children.child_handshake import connect
from ..children.targets import FORK_SERVER, SPAWN, CommandLine
from ..connection import current_engine
from ..interpreter import gc_tracking
from .engine import Engine


class _Hook:
    """The hooks at the forks of this process, which are registered once."""

    registered = False


class _Reports:
    """The engine's messages about its children."""

    def remark(self, text: str) -> None:
        """Send the user a notice."""
        if (engine := _engine()) is not None:
            engine.link.event("output", {"category": "console", "output": f"{text}\n"})

    def executes(self) -> None:
        """Report that this process is about to become another program, which will have a session of its own."""
        if (engine := _engine()) is not None:
            engine.link.event("dapkit/executes", {"processId": os.getpid()})

    def ends(self) -> None:
        """Send the waiting data: the process ends without a further message."""
        if (engine := _engine()) is not None:
            engine.link.flush()

    def error(self, error: BaseException, where: str) -> None:
        """Report an internal error."""
        if (engine := _engine()) is not None:
            engine.link.errors.show(error, where)


def _engine() -> Engine | None:
    return current_engine.engine if isinstance(current_engine.engine, Engine) else None


_REPORTS = _Reports()


def begin(way: str, of_interpreter: list[object]) -> None:
    """Begin in a process that was started.

    Args:
        way: the socket that its parent has left for it.
        of_interpreter: the objects that were there before the engine was loaded. They are held as long as this takes,
            so that none of ours gets the id of one.

    """
    name, _, door = way.partition("|")
    line = CommandLine(list(sys.orig_argv))
    if not line.is_helper:
        _begin(name if line.runs(SPAWN) else line.name, door)
    elif line.runs(FORK_SERVER):
        loader.load("requests.dispatch")  # in the forks it is there then
        launch_hooks.help_program(name.partition(": ")[0])  # the process that it was started for is one of many
        follow(door)
    gc_tracking.untrack_all(set(map(id, of_interpreter)))


def follow(door: str) -> None:
    """Let children of this process connect to a socket from now on."""
    launch_hooks.enable(door, _REPORTS)
    _look_at_forks()


def announce() -> None:
    """Only remark on the first child."""
    launch_hooks.notify_only(_REPORTS)
    _look_at_forks()


def _look_at_forks() -> None:
    if not _Hook.registered:
        _Hook.registered = True
        os.register_at_fork(after_in_parent=_announce_fork, after_in_child=_begin_in_fork)


def _announce_fork() -> None:
    """Remark on a child that is a fork, where it is not debugged."""
    if launch_hooks.announces() and (name := launch_hooks.name_of_fork()) is not None:
        launch_hooks.announce_first(name)


def _begin_in_fork() -> None:
    """Begin in the child of a fork, once the engine of its parent has let go of it."""
    if current_engine.engine is not None:
        current_engine.engine.forget_in_child()  # its own hook may be a later one
    door = launch_hooks.listener_path()
    launch_hooks.disable()
    if not door:
        return
    name = launch_hooks.name_of_fork()
    if name is None:
        launch_hooks.enable(door, _REPORTS)  # for the program that it executes
    elif _begin(name, door):
        gc_tracking.untrack_modules()


def _begin(name: str, door: str) -> bool:
    """Wait for a session and its configuration; return whether there is one."""
    connection = connect(door, name, list(sys.orig_argv))
    if connection is None:
        return False
    launch_hooks.prepare()
    dispatcher = loader.load("requests.dispatch").Dispatcher
    engine = Engine(connection, name, dispatcher, main=_thread.get_ident())
    current_engine.engine = engine
    atexit.register(engine.finish)
    engine.start()
    gc_tracking.untrack_members(engine)
    return True
