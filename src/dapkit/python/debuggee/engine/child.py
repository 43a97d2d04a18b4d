"""A process that a debugged program has started, or a fork of it: the beginning of its session.

    started, or forked --arrives at the door--> waits --a session comes--> configuring --> runs, debugged
                                                  |                                            |
                                                  +-- the door is closed --> runs undebugged <-+
                                                                               |        ^
                                                                               +--------+ sessions of later clients

It is debugged as a program that a client has come to, but for its first line of code, which waits for the client. A
child of a program that clients attach to can be debugged later as well (`children.family_socket`). The helpers of
`multiprocessing` have no session: the server of forks only shows its forks the way.
"""

import _thread
import atexit
import os
import sys

from .. import loader
from ..children import launch_hooks
from ..children.child_handshake import connect
from ..children.family_socket import new_family
from ..children.invitations import invitations
from ..children.targets import FORK_SERVER, SPAWN, CommandLine
from ..connection import current_engine
from ..interpreter import gc_tracking
from ..interpreter.log import LOG, write
from ..system import at_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
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


def _engine() -> "Engine | None":
    """Return the engine, which is loaded only where there is a session."""
    if current_engine.engine is None:
        return None
    kind: type[Engine] = loader.load("engine.engine").Engine
    return current_engine.engine if isinstance(current_engine.engine, kind) else None


_REPORTS = _Reports()


class Way:
    """The way that a parent shows to its child.

    Attributes:
        listener_path: the socket of the debugger, "" without a session.
        family: the beginning of the paths where children without a session listen, "" if they do not.

    """

    def __init__(self, text: str) -> None:
        self.listener_path, _, self.family = text.partition("|")


def begin(text: str, of_interpreter: list[object]) -> None:
    """Begin in a process that was started.

    Args:
        text: the name of the process, and the way that its parent shows to it.
        of_interpreter: the objects that were there before the engine was loaded. They are held as long as this takes,
            so that none of ours gets the id of one.

    """
    name, _, rest = text.partition("|")
    way = Way(rest)
    line = CommandLine(list(sys.orig_argv))
    if not line.is_helper:
        _begin(name if line.runs(SPAWN) else line.name, way)
    elif line.runs(FORK_SERVER):
        loader.load("requests.dispatch")  # in the forks it is there then
        launch_hooks.help_program(name.partition(": ")[0])  # the process that it was started for is one of many
        _show(way)
    gc_tracking.untrack_all(set(map(id, of_interpreter)))


def follow(listener_path: str) -> None:
    """Let children of this process connect to a socket from now on."""
    launch_hooks.enable(listener_path, _REPORTS)
    _look_at_forks()


def found_family(folder: str, *, keeps: bool) -> None:
    """Let clients that come later debug children of this process, too: their sockets are in a folder.

    With `keeps`, that includes children that are started while there is no session.
    """
    if not launch_hooks.family():
        launch_hooks.join_family(new_family(folder), _REPORTS, keeps=keeps)
        _look_at_forks()


def _show(way: Way) -> None:
    """Show children of this process, which no client debugs, the way that it was shown."""
    if way.listener_path:
        follow(way.listener_path)
    if way.family:
        launch_hooks.join_family(way.family, _REPORTS, keeps=True)
        _look_at_forks()


def announce() -> None:
    """Only remark on the first child."""
    launch_hooks.notify_only(_REPORTS)
    _look_at_forks()


def _look_at_forks() -> None:
    if not _Hook.registered:
        _Hook.registered = True
        at_fork(after_in_parent=_announce_fork, after_in_child=_begin_in_fork)


def _announce_fork() -> None:
    """Remark on a child that is a fork, where it is not debugged."""
    if launch_hooks.announces() and (name := launch_hooks.name_of_fork()) is not None:
        launch_hooks.announce_first(name)


def _begin_in_fork() -> None:
    """Begin in the child of a fork, once the engine of its parent has let go of it."""
    if current_engine.engine is not None:
        current_engine.engine.forget_in_child()  # its own hook may be a later one
    way = Way(launch_hooks.way())
    launch_hooks.leave_family()
    if not (way.listener_path or way.family):
        return
    name = launch_hooks.name_of_fork()
    if name is None:
        _show(way)  # to the program that it executes
    elif _begin(name, way):
        gc_tracking.untrack_modules()


def _begin(name: str, way: Way) -> bool:
    """Wait for a session and its configuration, if there is a debugger; return whether there is a session."""
    connection = connect(way.listener_path, name, list(sys.orig_argv)) if way.listener_path else None
    if way.family:
        launch_hooks.join_family(way.family, _REPORTS, keeps=True)
        _look_at_forks()
    if connection is None:
        _wait_for_invitations(name, way.family)
        return False
    launch_hooks.prepare()
    dispatcher = loader.load("requests.dispatch").Dispatcher
    engine = loader.load("engine.engine").Engine(connection, name, dispatcher, main=_thread.get_ident())
    engine.when_released = lambda released: _after_session(released, name, way.family)  # it must not lead to itself
    current_engine.engine = engine
    atexit.register(engine.finish)
    engine.start()
    gc_tracking.untrack_members(engine)
    return True


def _after_session(engine: "Engine", name: str, family: str) -> None:
    """Let later sessions come; the next one takes over a program that this one has left suspended."""
    if engine.is_suspended and family:
        loader.load("starting.attachable").hold(engine)
    _wait_for_invitations(name, family)


def _wait_for_invitations(name: str, family: str) -> None:
    """Let the adapters of later sessions invite this process, in a thread of the debugger."""
    if not family:
        return
    try:
        invitations.wait_for(family, name)
    except (OSError, RuntimeError) as error:  # no file can be made, or the interpreter is ending
        if LOG:
            write("error", "no later client can debug this process:", error)
