"""The first program in a process that would ignore signals: it restores their defaults, and becomes the program.

Started by `signals` as `COMMAND...`.
"""

import os
import signal
import sys

_IS_LINUX = sys.platform == "linux" and os.environ.get("DAPKIT_SYSTEM") != "posix"
"""The answer of `dapkit.system.selection`, which a script cannot import."""


def main() -> None:
    """Never return: end as the program, or with the shell's code for a command that cannot be run."""
    command = sys.argv[1:]
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, _environment())  # noqa: S606 - without a shell
    except OSError as error:
        sys.stderr.write(f"{command[0]} could not be started: {error.strerror}\n")
        sys.exit(127)


def _environment() -> dict[bytes, bytes]:
    """Return the environment that we were given; to os.environ the interpreter adds LC_CTYPE in the C locale."""
    if not _IS_LINUX:
        return dict(os.environb)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib would cost milliseconds
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if pair]
    return {name: value for name, _, value in pairs}


if __name__ == "__main__":
    main()
