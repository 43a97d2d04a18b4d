"""The program's children, as they are started: each Python among them is shown the way to the debugger.

A child that is another program gets it by its environment (`start/sitecustomize.py` takes that away again), one that is
a fork of this process by a hook of the interpreter. A program that starts nothing pays nothing. The arguments of
functions in C are looked at before a program is started, in C (`native/starts.c`), so that the program cannot see it;
without the extension, Python functions replace them.
"""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Protocol

from ..interpreter import native
from ..interpreter.frame_locals import stored_locals
from ..interpreter.hidden_frames import hidden_frame
from ..interpreter.safe_types import entry_of, is_a, stored_dict
from ..loader import import_for_program, standard
from ..system import DESCRIPTORS, IS_WINDOWS
from . import environment, windows_command_line
from .environment import OddArgument, Variables, decoded
from .targets import OTHER, PYTHON, CommandLine, kind_of, program_name

VARIABLE: Final = b"DAPKIT_CHILD"
_PREPARE: Final = 21
"""Where `fork_exec` has the function that is called between the two."""
_START: Final = os.path.join(os.path.dirname(__file__), "start").encode()

_CREATE_ENVIRONMENT: Final = 6
"""Where `CreateProcess` has the environment."""

type Look = Callable[[tuple[Any, ...], tuple[str, ...] | None], tuple[Any, ...] | None]


class Reports(Protocol):
    """Reports about the children."""

    def remark(self, text: str) -> None:
        """Send the user a notice."""

    def executes(self) -> None:
        """Record that this process is about to become another program, which comes as a child."""

    def ends(self) -> None:
        """Record that this process is about to end without any further word."""

    def error(self, error: BaseException, where: str) -> None:
        """Take an internal error."""


class _Followed:
    """Where children are to come.

    Attributes:
        listener_path: the path of the debugger's socket, "" for nowhere.
        family: the beginning of the paths where children without a session listen, "" if they listen nowhere.
        keeps_family: whether children of the family are shown the way without a session, too.
        announces: whether the first child is only to be remarked on.
        program: the name of the program if this process is a helper of it.

    """

    def __init__(self) -> None:
        self.listener_path = ""
        self.family = ""
        self.keeps_family = False
        self.announces = False
        self.program = ""
        self.reports: Reports | None = None
        self.is_patched = False


_followed = _Followed()


def listener_path() -> str:
    """Return where children come to, "" for nowhere."""
    return _followed.listener_path


def way() -> str:
    """Return the way that children are shown: the debugger's socket and the family, "" for none."""
    family = _followed.family if _followed.listener_path or _followed.keeps_family else ""
    return f"{_followed.listener_path}|{family}" if _followed.listener_path or family else ""


def family() -> str:
    """Return the beginning of the paths where children without a session listen, "" if they listen nowhere."""
    return _followed.family


def announces() -> bool:
    """Return whether the first child is only to be remarked on."""
    return _followed.announces


def prepare() -> None:
    """Import the modules to replace before the program has begun, if functions cannot be looked at in C."""
    if not native.IS_WHOLE:
        import_for_program("_winapi" if IS_WINDOWS else "_posixsubprocess")


def enable(place: str, taking: Reports) -> None:
    """Show children the way to a door from now on."""
    _followed.listener_path = place
    _look(taking)


def notify_only(taking: Reports) -> None:
    """Only remark on the first child that could be debugged."""
    _followed.announces = True
    _look(taking)


def join_family(family: str, taking: Reports, *, keeps: bool) -> None:
    """Let children that have no session listen at paths that begin so.

    With `keeps`, children are shown the way from now on; otherwise only while there is a session.
    """
    _followed.family, _followed.keeps_family = family, keeps
    if keeps:
        _look(taking)


def disable() -> None:
    """Show children no way to a debugger any more."""
    _followed.listener_path = ""
    _followed.announces = False
    if not _followed.keeps_family:
        _followed.reports = None


def leave_family() -> None:
    """Show children no way at all: this process is the child of a fork."""
    _followed.family, _followed.keeps_family = "", False
    disable()


def _look(taking: Reports) -> None:
    _followed.reports = taking
    if not _followed.is_patched:
        _followed.is_patched = True
        for module, name, look in _LOOKS:
            function = getattr(standard(module), name, None)
            if function is not None and not native.look_at_start(name, function, look):
                _replace(module, name, look)
        _hash_again()


def _hash_again() -> None:
    """Let functions be found in the sets of `os` whose hashes have changed."""
    for value in list(vars(sys.modules.get("os", sys)).values()):
        if type(value) is set and any(member not in value for member in value):
            members = list(value)
            value.clear()
            value.update(members)


def _replace(module: str, name: str, look: Look) -> None:
    """Put a function that looks first in the place of one, where it can be found."""
    original = getattr(sys.modules.get(module), name, None)
    if original is None:
        return
    with_environment = getattr(sys.modules[module], f"{name}e", None)  # before it is replaced itself

    @hidden_frame
    def looks_first(*arguments: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the function's types
        instead = look((*arguments, *kwargs.values()), tuple(kwargs))
        if instead is None:
            return original(*arguments, **kwargs)
        count = len(instead) - len(kwargs)
        if name in _HAVE_NO_ENVIRONMENT and with_environment is not None and count > len(arguments):
            return with_environment(*instead)
        return original(*instead[:count], **dict(zip(kwargs, instead[count:], strict=True)))

    looks_first.__name__ = looks_first.__qualname__ = name
    looks_first.__doc__ = original.__doc__
    looks_first.__module__ = module
    for holder in list(sys.modules.values()):
        for attribute in (name, f"_{name}"):
            if getattr(holder, "__dict__", {}).get(attribute) is original:
                setattr(holder, attribute, looks_first)


# The program to be started


def _guarded(look: Look) -> Look:
    """Look only while children are followed, and let no internal error out; of the program's, the function speaks."""

    def looks(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
        taking = _followed.reports
        if taking is None:
            return None
        try:
            return look(arguments, names)
        except OddArgument:
            return None
        except Exception as error:
            taking.error(error, "a look at a child that is started")
            return None

    return looks


@_guarded
def _look_at_fork_exec(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, _PREPARE + 1)
    executables, folder, lines, prepare = arguments[1], arguments[4], arguments[5], arguments[_PREPARE]
    if not is_a(executables, list, tuple) or not (prepare is None or callable(prepare)):
        raise OddArgument
    paths = [_beside(folder, decoded(path)) for path in executables]
    path = next(filter(_is_executable, paths), None)
    if path is None:
        return None
    variables = environment.inherited() if lines is None else _lines(lines)
    way = _way(kind_of(path), path, arguments[0], environment.value_in(variables, environment.PATH))
    if way is None:
        return None
    if lines is None and prepare is not None:  # which may change the environment
        return (*arguments[:_PREPARE], _preparing(prepare, way), *arguments[_PREPARE + 1 :])
    return (*arguments[:5], environment.lines_with(way, variables), *arguments[6:])


@_guarded
def _look_at_execv(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, 2)
    variables = _with_way(decoded(arguments[0]), arguments[1], environment.inherited_mapping, executes=True)
    return None if variables is None else (*arguments, variables)


@_guarded
def _look_at_execve(call_arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    order = ("path", "argv", "env")[: len(call_arguments) - len(names or ())] + (names or ())
    if sorted(order) != ["argv", "env", "path"]:
        raise OddArgument
    path, arguments, place = (
        call_arguments[order.index("path")],
        call_arguments[order.index("argv")],
        order.index("env"),
    )
    variables = _with_way(_path_of(path), arguments, lambda: environment.mapping(call_arguments[place]), executes=True)
    return None if variables is None else (*call_arguments[:place], variables, *call_arguments[place + 1 :])


@_guarded
def _look_at_spawn(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, 3)
    return _with_way_at_spawn(decoded(arguments[0]), arguments)


@_guarded
def _look_at_spawnp(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, 3)
    return _with_way_at_spawn(_found_on_path(decoded(arguments[0])), arguments)


def _with_way_at_spawn(path: str, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
    def read() -> Variables:
        inherits = arguments[2] is None and sys.version_info >= (3, 13)
        return environment.inherited_mapping() if inherits else environment.mapping(arguments[2])

    variables = _with_way(path, arguments[1], read)
    return None if variables is None else (*arguments[:2], variables, *arguments[3:])


@_guarded
def _look_at_create_process(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, _CREATE_ENVIRONMENT + 1)
    application, line = arguments[:2]
    words = windows_command_line.split(decoded(line)) if line is not None else [decoded(application)]
    path = words[0] if application is None else decoded(application)
    texts = _with_way_on_windows(path, words, arguments[_CREATE_ENVIRONMENT])
    return None if texts is None else (*arguments[:_CREATE_ENVIRONMENT], texts, *arguments[_CREATE_ENVIRONMENT + 1 :])


@_guarded
def _look_at_windows_spawn(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, 3)
    return _with_way_after_words(arguments, place=1)


@_guarded
def _look_at_windows_exec(arguments: tuple[Any, ...], names: tuple[str, ...] | None) -> tuple[Any, ...] | None:
    _need_positional(arguments, names, 2)
    return _with_way_after_words(arguments, place=0)


def _with_way_after_words(arguments: tuple[Any, ...], *, place: int) -> tuple[Any, ...] | None:
    """Return the arguments path, words and environment, which begin at a place, with an environment that shows the way.

    The C runtime joins the words by spaces, and the program splits them again.
    """
    path, words = decoded(arguments[place]), windows_command_line.split(" ".join(_words(arguments[place + 1])))
    texts = _with_way_on_windows(path, words, arguments[place + 2] if len(arguments) > place + 2 else None)
    return None if texts is None else (*arguments[: place + 2], texts)


def _with_way_on_windows(path: str, words: list[str], changed: Any) -> dict[str, str] | None:  # noqa: ANN401 - a value
    """Return the environment that shows a program the way; None if it needs none. Case does not count in its names.

    `changed` is the environment that the program has for it, or None.
    """
    variables = environment.inherited_mapping() if changed is None else environment.mapping(changed)
    ours = {name.upper(): value for name, value in variables.items()}
    way = _way(kind_of(path), path, words, ours.get(environment.PATH, b""))
    if way is None:
        return None
    others = {name: value for name, value in variables.items() if name.upper() not in way}
    return {decoded(name): decoded(value) for name, value in (others | way).items()}


@_guarded
def _look_at_exit(_given: tuple[Any, ...], _names: tuple[str, ...] | None) -> None:
    if _followed.reports is not None:
        _followed.reports.ends()


def _found_on_path(name: str) -> str:
    if "/" in name:
        return name
    folders = decoded(environment.value_in(environment.inherited(), b"PATH") or b"/bin:/usr/bin").split(":")
    return next((f"{folder}/{name}" for folder in folders if _is_executable(f"{folder}/{name}")), name)


def _with_way(
    path: str,
    arguments: Any,  # noqa: ANN401 - a value of the program
    read_environment: Callable[[], Variables],
    *,
    executes: bool = False,
) -> Variables | None:
    """Return the environment that shows a program the way; None if it needs none.

    `read_environment` reads the environment that it would have.
    """
    kind = kind_of(path)
    if kind == OTHER or not _is_executable(path):
        return None
    variables = read_environment()
    way = _way(kind, path, arguments, variables.get(environment.PATH, b""), executes=executes)
    return None if way is None else {**variables, **way}


def _way(kind: str, path: str, arguments: Any, before: bytes, *, executes: bool = False) -> Variables | None:  # noqa: ANN401 - a value
    """Return the variables that show a program the way; None if it needs none. `before` is its PYTHONPATH."""
    taking = _followed.reports
    if kind == OTHER or taking is None:
        return None
    line = CommandLine(_words(arguments))
    if kind == PYTHON and line.ignores_environment and not line.is_helper:
        taking.remark(f"{os.path.basename(path)} is started with -E, -I or -S, so that it is not debugged.")
        return None
    if not _followed.listener_path and kind == PYTHON and not line.is_helper:
        announce_first(line.name)
    path = way()
    if not path:
        return None
    if executes and kind == PYTHON and _followed.listener_path:
        taking.executes()
    process = _name_in(sys._getframe())
    name = f"{program()}: {process}" if process else program()
    return {
        environment.PATH: _START + os.pathsep.encode() + before if before else _START,
        VARIABLE: f"{name}|{path}".encode("utf-8", "surrogateescape"),
    }


def announce_first(name: str) -> None:
    """Report the first child that is not debugged."""
    taking = _followed.reports
    if taking is not None and _followed.announces:
        disable()
        taking.remark(
            f"Child processes run on undebugged: this client opens no sessions for them (startDebugging). "
            f"The first is {name}."
        )


def program() -> str:
    """Return a name of this program for people."""
    words = getattr(sys, "argv", None)
    try:
        name = _followed.program or decoded(words[0] if type(words) is list and words else "")
    except OddArgument:
        name = ""
    return _plain(program_name(name)) or "python"


def _plain(name: str) -> str:
    """Return a name as it can be in the environment, in front of a door."""
    text = str.__str__(name).encode("utf-8", "replace").decode()[:_NAME_CHARACTERS]
    return text.replace("|", "_").replace("\0", "_")


def _preparing(prepare: Callable[[], object], way: Variables) -> Callable[[], None]:
    """Return a function that does the same in a fork, and shows the way to the program that the fork becomes."""
    texts = [(os.fsdecode(name), os.fsdecode(value)) for name, value in way.items()]

    def prepares() -> None:
        prepare()
        for name, value in texts:
            os.putenv(name, value)

    return prepares


# A value of the program


def _need_positional(arguments: tuple[Any, ...], names: tuple[str, ...] | None, count: int) -> None:
    if len(arguments) - len(names or ()) < count:
        raise OddArgument


def _path_of(value: Any) -> str:  # noqa: ANN401 - a value of the program: a path, or a descriptor
    return f"{DESCRIPTORS}/{int.__int__(value)}" if is_a(value, int) else decoded(value)


def _words(value: Any) -> list[str]:  # noqa: ANN401 - a value of the program
    words = list(map(decoded, value)) if is_a(value, list, tuple) else []
    if not words or not words[0]:
        raise OddArgument
    return words


def _lines(value: Any) -> list[bytes]:  # noqa: ANN401 - a value of the program
    if not is_a(value, list, tuple) or not all(is_a(line, bytes) for line in value):
        raise OddArgument
    return list(value)


def _beside(folder: Any, path: str) -> str:  # noqa: ANN401 - a value of the program
    return path if folder is None else os.path.join(decoded(folder), path)


def _is_executable(path: str) -> bool:
    return os.access(path, os.X_OK)


def _name_in(frame: FrameType | None) -> str:
    """Return `multiprocessing`'s name of the process that a frame is about to start; "" if it has no name."""
    for _ in range(_FRAMES):
        if frame is None:
            return ""
        if frame.f_code.co_name == _LAUNCHER and entry_of(frame.f_globals, "__package__") == "multiprocessing":
            names = stored_dict(stored_locals(frame).get("process_obj"))
            name = None if names is None else dict.get(names, "_name")
            return _plain(name) if is_a(name, str) else ""
        frame = frame.f_back
    return ""


_LAUNCHER: Final = "__init__" if IS_WINDOWS else "_launch"
"""The method of `multiprocessing` that starts a process."""
_FRAMES: Final = 12
_NAME_CHARACTERS: Final = 200

_ON_WINDOWS: Final[tuple[tuple[str, str, Look], ...]] = (
    ("_winapi", "CreateProcess", _look_at_create_process),
    ("nt", "spawnv", _look_at_windows_spawn),
    ("nt", "spawnve", _look_at_windows_spawn),
    ("nt", "execv", _look_at_windows_exec),
    ("nt", "execve", _look_at_windows_exec),
    ("nt", "_exit", _look_at_exit),
)
_ELSEWHERE: Final[tuple[tuple[str, str, Look], ...]] = (
    ("_posixsubprocess", "fork_exec", _look_at_fork_exec),
    ("posix", "execv", _look_at_execv),
    ("posix", "execve", _look_at_execve),
    ("posix", "posix_spawn", _look_at_spawn),
    ("posix", "posix_spawnp", _look_at_spawnp),
    ("posix", "_exit", _look_at_exit),
)
_LOOKS: Final = _ON_WINDOWS if IS_WINDOWS else _ELSEWHERE

_HAVE_NO_ENVIRONMENT: Final = ("execv", "spawnv")
"""Functions without an environment among their arguments; one whose name has another e at its end takes it."""

# Forks

_THEN_EXECUTES: Final = frozenset((
    ("os", "_spawnvef"),
    ("pty", "spawn"),
    ("ptyprocess.ptyprocess", "spawn"),
    ("subprocess", "_execute_child"),
))  # fmt: skip
"""Functions that fork only to execute another program: their modules, and names."""


def help_program(name: str) -> None:
    """Record that this process only helps a program of that name to start others."""
    _followed.program = name


def name_of_fork() -> str | None:
    """Return the name of this process, the child of a fork; None if it is to execute another program."""
    frame: FrameType | None = sys._getframe()
    near = 0
    while frame is not None and near < _FRAMES:
        if (entry_of(frame.f_globals, "__name__"), frame.f_code.co_name) in _THEN_EXECUTES:
            return None
        frame, near = frame.f_back, near + 1
    name = _name_in(sys._getframe())
    return f"{program()}: {name or 'fork'}"
