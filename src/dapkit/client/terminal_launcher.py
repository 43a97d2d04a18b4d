"""What first runs in a new terminal: it takes the terminal over and becomes the program.

Started by `terminal` in a session of its own, with the terminal on its standard
descriptors, as `FOLDER COMMAND...`. Why it failed, if it did, goes to descriptor 3,
which the program does not inherit.
"""

import fcntl
import os
import signal
import sys
import termios

REPORT = 3


def main() -> None:
    """Never return: end as the program, or with the shell's code for a command that cannot be run."""
    folder, *command = sys.argv[1:]
    os.set_inheritable(REPORT, False)  # noqa: FBT003 - takes no keywords
    try:
        fcntl.ioctl(1, termios.TIOCSCTTY, 0)  # its input may be a file
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python itself ignores these two
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.chdir(folder)
        os.execvp(command[0], command)  # noqa: S606 - the command that the adapter asked for, without a shell
    except OSError as error:
        os.write(REPORT, str(error).encode(errors="replace"))
        sys.exit(127)


if __name__ == "__main__":
    main()
