"""The first program in a process that would ignore signals: it restores their defaults, and becomes the program.

Started by `signals` as `COMMAND...`.
"""

import os
import signal
import sys


def main() -> None:
    """Never return: end as the program, or with the shell's code for a command that cannot be run."""
    command = sys.argv[1:]
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib would cost milliseconds
        # Not os.environ: in the C locale the interpreter adds LC_CTYPE to it (PEP 538).
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if pair]
    try:
        os.execvpe(command[0], command, {name: value for name, _, value in pairs})  # noqa: S606 - without a shell
    except OSError as error:
        sys.stderr.write(f"{command[0]} could not be started: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
