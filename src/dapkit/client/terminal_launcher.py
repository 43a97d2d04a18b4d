"""The first program in a new terminal: it takes the terminal over and becomes the debugged program.

Started by `terminal` in a session of its own, with the terminal on its standard
descriptors, as `FOLDER INPUT COMMAND...`, where INPUT is a file that the program reads
instead, or empty; with a file only the input is the terminal. A named pipe is waited
for here, in a process that can be killed. Why it failed, if it did, goes to descriptor
3, which the program does not inherit.
"""

import os
import signal
import sys

if sys.platform != "win32":  # where this can be imported, and no more
    import fcntl
    import termios

REPORT = 3


def main() -> None:
    """Never return: end as the program, or with the shell's code for a command that cannot be run."""
    folder, input_path, *command = sys.argv[1:]
    os.set_inheritable(REPORT, False)  # noqa: FBT003 - takes no keywords
    try:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python itself ignores these two
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        if input_path:
            _read(input_path)
        os.chdir(folder)
        os.execvp(command[0], command)  # noqa: S606 - the command that the adapter asked for, without a shell
    except OSError as error:
        os.write(REPORT, str(error).encode(errors="replace"))
        sys.exit(127)


def _read(file: str) -> None:
    """Make a file the standard input."""
    try:
        opened = os.open(file, os.O_RDONLY)
    except OSError as error:
        raise OSError(f"{file} cannot be read as the program's input: {error.strerror}") from error
    os.dup2(opened, 0)


if __name__ == "__main__":
    main()
