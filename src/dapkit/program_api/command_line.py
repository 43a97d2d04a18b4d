"""The words of `python -m dapkit` and of the variable DAPKIT, as `python -m debugpy` takes them.

    --listen|--connect [HOST:]PORT [option]... FILE | -m MODULE | -c CODE | --pid PID [argument]...

A switch is given once. The first word that is not a switch is the program's file, and all words after it belong to the
program. The variable holds switches without a program, separated by blanks; they precede the switches of the command
line.

Reading them imports nothing: programs that are run by them find no trace of it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    type Take = Callable[["CliOptions", str, list[str]], None]

USAGE = """\
usage: python -m dapkit --listen | --connect [HOST:]PORT
                        [--wait-for-client]
                        [--token-file FILE]
                        [--tls-certificate FILE] [--tls-key FILE] | [--tls-authority FILE]
                        [--configure-NAME VALUE]...
                        [--log-to PATH] [--log-to-stderr]
                        [--parent-session-pid PID]
                        [--adapter-access-token TOKEN]
                        FILE | -m MODULE | -c CODE | --pid PID
                        [ARGUMENT]...
"""

HELP = f"""{USAGE}
Run a program that a debugger can attach to, or attach a debugger to a process.

  --listen [HOST:]PORT      let clients attach at this port; 127.0.0.1 if no host is given; a path is a unix socket
  --connect [HOST:]PORT     connect to an adapter that waits for the program (attach with listen)
  --wait-for-client         start when a client has connected and set its breakpoints
  --token-file FILE         the token of the port; without it --listen makes one and prints its path,
                            and --connect takes the one that the adapter has left
  --tls-certificate FILE    speak TLS, with this certificate (with --listen)
  --tls-key FILE            its key, if it is not in the same file
  --tls-authority FILE      speak TLS with a debugger signed by these certificates (with --connect)
  --configure-NAME VALUE    subProcess true|false: whether processes that the program starts are debugged as well;
                            qt none|auto|pyside2|pyside6|pyqt5|pyqt6: accepted, all threads of Qt are debugged anyway
  --log-to PATH             write the debugger's log to a file, or to a file in a folder
  --log-to-stderr           write it to stderr
  --parent-session-pid PID  the process whose session this one belongs to (with --connect)
  --adapter-access-token T  the token itself (with --connect); other users see it: --token-file hides it
  --disable-sys-remote-exec, --linux-attach-prefer-lldb
                            with --pid: reach the process by gdb or lldb, or by lldb
  --startup-folder          print the folder that makes programs obey DAPKIT if it is in PYTHONPATH
  -V, --version             print the version
  -h, --help                print this

The variable DAPKIT holds further switches. With --startup-folder in PYTHONPATH it serves programs whose command
line cannot be changed:

  PYTHONPATH=$(python -m dapkit --startup-folder) DAPKIT="--listen 5678 --wait-for-client" gunicorn app:app

Exit codes: the program's own; 2: invalid arguments; 1: could not listen on the address, or connect to it.
"""

_QT = ("none", "auto", "pyside", "pyside2", "pyside6", "pyqt4", "pyqt5", "pyqt6")
_TARGETS = "FILE | -m MODULE | -c CODE | --pid PID"


class WrongCommandLine(ValueError):  # noqa: N818 - as elsewhere
    """The words are not such a command line; the text says why."""


class CliOptions:
    """The values of a command line, by debugpy's names for them.

    Attributes:
        mode: `listen` or `connect`.
        address: host and port, or the path of a unix socket.
        target_kind: `file`, `module`, `code` or `pid`.
        target: the program, or the number of a process.
        arguments: the program's own.
        wait_for_client: whether to wait before the program begins.
        token_file: where the token is.
        tls_certificate: of a port that speaks TLS.
        tls_key: the certificate's key, if that is not in the same file.
        tls_authority: certificates that vouch for the debugger's.
        adapter_access_token: the token itself.
        config: the values of `--configure-NAME`.
        log_to: where to log decisions.
        log_to_stderr: whether to log them to stderr.
        parent_session_pid: the process whose session this one belongs to.
        disable_sys_remote_exec: whether `--pid` is to use gdb or lldb even where the interpreter can do without.
        linux_attach_prefer_lldb: whether `--pid` is to use lldb where there is gdb as well.
        wants: `help`, `version` or `startup-folder` if that was asked for, and nothing else counts.

    """

    def __init__(self) -> None:
        self.mode: Literal["listen", "connect"] | None = None
        self.address: tuple[str, int] | str | None = None
        self.target_kind: Literal["file", "module", "code", "pid"] | None = None
        self.target: str | int | None = None
        self.arguments: list[str] = []
        self.wait_for_client = False
        self.token_file: str | None = None
        self.tls_certificate: str | None = None
        self.tls_key: str | None = None
        self.tls_authority: str | None = None
        self.adapter_access_token: str | None = None
        self.config: dict[str, object] = {"qt": "none", "subProcess": True}
        self.log_to: str | None = None
        self.log_to_stderr = False
        self.parent_session_pid: int | None = None
        self.disable_sys_remote_exec = False
        self.linux_attach_prefer_lldb = False
        self.wants = ""


def read(words: list[str], variable: str = "") -> CliOptions:
    """Read a command line, and the variable DAPKIT.

    Raises:
        WrongCommandLine: they are not one.

    """
    options = CliOptions()
    remaining = list(words)
    switches: set[str] = set()
    while remaining and options.target_kind is None and not options.wants:
        switches.add(_take_switch(options, remaining, switches))
    if options.wants:
        return options
    options.arguments = remaining
    if options.target_kind is None:
        raise WrongCommandLine(f"missing target: {_TARGETS}")
    _take_variable(options, variable, switches)
    if options.target_kind == "pid" and options.wait_for_client:
        raise WrongCommandLine("--pid does not support --wait-for-client")
    return _checked(options)


def read_variable(variable: str) -> CliOptions:
    """Read the variable DAPKIT alone.

    Raises:
        WrongCommandLine: a value is missing, or must not be there.

    """
    options = CliOptions()
    _take_variable(options, variable, set())
    return _checked(options)


def _checked(options: CliOptions) -> CliOptions:
    if options.mode is None:
        raise WrongCommandLine("either --listen or --connect is required")
    for name, mode in _ONLY_WITH.items():
        if getattr(options, name) is not None and options.mode != mode:
            raise WrongCommandLine(f"--{name.replace('_', '-')} requires --{mode}")
    if options.adapter_access_token is not None and options.token_file is not None:
        raise WrongCommandLine("--adapter-access-token and --token-file say the same: give one of them")
    return options


def _take_variable(options: CliOptions, variable: str, earlier_switches: set[str]) -> None:
    """Take the switches of DAPKIT, but for those that are `earlier_switches` from the command line."""
    remaining = variable.split()
    switches: set[str] = set()
    while remaining:
        if remaining[0] in _TARGET_SWITCHES or not remaining[0].startswith("-"):
            raise WrongCommandLine(f"DAPKIT: unrecognized switch {remaining[0]}")
        further = CliOptions() if remaining[0] in earlier_switches else options
        switches.add(_take_switch(further, remaining, switches))


def _take_switch(options: CliOptions, remaining: list[str], switches: set[str]) -> str:
    """Take a switch with its value, or the program's file, from the front of the words; return the switch."""
    word = remaining.pop(0)
    if not word.startswith("-"):
        options.target_kind, options.target = "file", word
        return ""
    take = _SWITCHES.get(word) or (_configure if word.startswith(_CONFIGURE) else None)
    if take is None:
        raise WrongCommandLine(f"unrecognized switch {word}")
    if word in switches:
        raise WrongCommandLine(f"duplicate switch {word}")
    take(options, word, remaining)
    return word


# The effect of each switch


def _mode(options: CliOptions, switch: str, remaining: list[str]) -> None:
    if options.mode is not None:
        raise WrongCommandLine("--listen and --connect are mutually exclusive")
    options.mode = "listen" if switch == "--listen" else "connect"
    options.address = _address(_value(switch, "[HOST:]PORT", remaining))


def _address(value: str) -> tuple[str, int] | str:
    if "/" in value:
        return value
    host, _, port = value.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise WrongCommandLine(f"invalid port number in {value!r}: expected [HOST:]PORT, or the path of a unix socket")
    return host.strip("[]") or "127.0.0.1", int(port)


def _configure(options: CliOptions, switch: str, remaining: list[str]) -> None:
    name = switch.removeprefix(_CONFIGURE)
    text = _value(switch, "VALUE", remaining)
    value: object = {"true": True, "false": False}.get(text.lower(), text) if name == "subProcess" else text
    configured(options.config, name, value)


def configured(config: dict[str, object], name: str, value: object) -> None:
    """Take a property of `--configure-NAME`, or of `configure`.

    Raises:
        WrongCommandLine: no option has this name, or it cannot have this value.

    """
    if name not in config:
        raise WrongCommandLine(f"unknown property {name!r}: expected {' or '.join(config)}")
    if type(value) is not type(config[name]):
        raise WrongCommandLine(f"{name!r} must be a {type(config[name]).__name__}, got {value!r}")
    if name == "qt" and value not in _QT:
        raise WrongCommandLine(f"'qt' must be one of {', '.join(_QT)}, got {value!r}")
    config[name] = value


def _target(kind: "Literal['module', 'code']", placeholder: str) -> "Take":
    def take(options: CliOptions, switch: str, remaining: list[str]) -> None:
        options.target_kind, options.target = kind, _value(switch, placeholder, remaining)

    return take


def _pid(options: CliOptions, switch: str, remaining: list[str]) -> None:
    options.target_kind, options.target = "pid", _number(switch, remaining)


def _text(name: str, placeholder: str) -> "Take":
    def take(options: CliOptions, switch: str, remaining: list[str]) -> None:
        setattr(options, name, _value(switch, placeholder, remaining))

    return take


def _parent(options: CliOptions, switch: str, remaining: list[str]) -> None:
    options.parent_session_pid = _number(switch, remaining)


def _flag(name: str) -> "Take":
    def take(options: CliOptions, _switch: str, _left: list[str]) -> None:
        setattr(options, name, True)

    return take


def _want(what: str) -> "Take":
    def take(options: CliOptions, _switch: str, _left: list[str]) -> None:
        options.wants = what

    return take


def _value(switch: str, placeholder: str, remaining: list[str]) -> str:
    if not remaining or not remaining[0]:
        raise WrongCommandLine(f"{switch}: missing {placeholder}")
    return remaining.pop(0)


def _number(switch: str, remaining: list[str]) -> int:
    text = _value(switch, "PID", remaining)
    if not (text.isascii() and text.isdigit()):
        raise WrongCommandLine(f"invalid {switch} {text!r}: expected the number of a process")
    return int(text)


_ONLY_WITH = {
    "adapter_access_token": "connect",
    "parent_session_pid": "connect",
    "tls_authority": "connect",
    "tls_certificate": "listen",
    "tls_key": "listen",
}
_CONFIGURE = "--configure-"
_TARGET_SWITCHES = ("-m", "-c", "--pid")
_SWITCHES: "dict[str, Take]" = {
    **dict.fromkeys(("-h", "-?", "--help"), _want("help")),
    **dict.fromkeys(("-V", "--version"), _want("version")),
    "--startup-folder": _want("startup-folder"),
    "--listen": _mode,
    "--connect": _mode,
    "--wait-for-client": _flag("wait_for_client"),
    "--token-file": _text("token_file", "FILE"),
    **{f"--tls-{name}": _text(f"tls_{name}", "FILE") for name in ("certificate", "key", "authority")},
    "--adapter-access-token": _text("adapter_access_token", "TOKEN"),
    "--parent-session-pid": _parent,
    "--log-to": _text("log_to", "PATH"),
    "--log-to-stderr": _flag("log_to_stderr"),
    "--disable-sys-remote-exec": _flag("disable_sys_remote_exec"),
    "--linux-attach-prefer-lldb": _flag("linux_attach_prefer_lldb"),
    "-m": _target("module", "MODULE"),
    "-c": _target("code", "CODE"),
    "--pid": _pid,
}
