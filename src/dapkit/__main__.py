"""`python -m dapkit`: run a program that a debugger can attach to, without editing it.

The process becomes the program: the interpreter begins anew, with the options it was given, and runs `entry.py` of
the engine as a launched program does. So the program finds all as `python FILE` has it, and nothing of this module.
How clients come goes over a pipe, so that no token stays in the command line.
"""

import marshal
import os
import sys

if not __package__:  # `python PATH/dapkit`, where it need not be installed
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from dapkit.program_api.command_line import HELP, USAGE, CliOptions, WrongCommandLine, read

_HERE = os.path.dirname(os.path.abspath(__file__))
_ENTRY = os.path.join(_HERE, "python", "debuggee", "starting", "entry.py")
_KINDS = {"file": "--program", "module": "--module", "code": "--code"}


def main() -> None:
    """Carry out the command line; a command that runs a program does not return."""
    from dapkit.system.platform_support import end_if_unsupported

    try:
        options = read(sys.argv[1:], os.environ.get("DAPKIT", ""))
    except WrongCommandLine as error:
        sys.stderr.write(f"{USAGE}\nerror: {error}\n")
        sys.exit(2)
    if options.wants:
        _show(options.wants)
        return
    end_if_unsupported(1)
    try:
        if options.target_kind == "pid":
            _begin_in_running(options)
        else:
            become_program(options)
    except (OSError, ValueError) as error:
        sys.exit(f"dapkit: {error}")


def _show(option: str) -> None:
    if option == "help":
        sys.stdout.write(HELP)
    elif option == "version":
        from dapkit import __version__

        sys.stdout.write(f"{__version__}\n")
    else:
        sys.stdout.write(f"{os.path.join(_HERE, 'python', 'startup')}\n")


def become_program(options: CliOptions, *, module: str = "dapkit", end_file: str = "") -> None:
    """Restart the interpreter as the program.

    Args:
        options: the command line.
        module: that this process runs by `-m`.
        end_file: a file that gets the program's exit code and last exception.

    Raises:
        OSError: the system cannot do that.
        ValueError: clients cannot come like this.

    """
    from dapkit.program_api.start_plan import start_plan
    from dapkit.system.started_processes import become

    plan = marshal.dumps(start_plan(options, end_file=end_file))
    os.environ.pop("DAPKIT", None)  # it was for this process
    reading, writing = os.pipe()
    os.write(writing, plan)  # far less than a pipe holds
    os.close(writing)
    kind, what = _KINDS[str(options.target_kind)], str(options.target)
    start = [*_interpreter(module), _ENTRY, "--beginning"]
    become(sys.executable, lambda number: [*start, str(number), kind, what, "--", *options.arguments], reading)


def _begin_in_running(options: CliOptions) -> None:
    """Let clients attach to a running process, and print the address.

    Raises:
        OSError, ValueError: clients cannot come like this.

    """
    from dapkit.system import safe_import_path  # noqa: F401 - before anything else is imported

    # isort: split
    import anyio

    from dapkit.endpoint import RequestFailed
    from dapkit.program_api.start_plan import start_plan
    from dapkit.python.adapter.injection.bootstrap import begin_in
    from dapkit.python.adapter.injection.injector import Ways

    debuggers = ("lldb", "gdb") if options.linux_attach_prefer_lldb else ("gdb", "lldb")
    ways = Ways(asks=not options.disable_sys_remote_exec, debuggers=debuggers)
    try:
        where = anyio.run(lambda: begin_in(int(options.target or 0), start_plan(options), ways=ways))
    except RequestFailed as error:
        sys.exit(f"dapkit: {error}")
    sys.stderr.write(f"dapkit: process {options.target} is {where}\n")


def _interpreter(module: str) -> list[str]:
    """Return the interpreter and its options as they were given, without the part that runs dapkit."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    last = words.pop()
    if __package__:  # `-m dapkit`, `-Im dapkit` or `-mdapkit`
        option = words.pop() if last == module else last.removesuffix(module)
        if option := option.removesuffix("m").rstrip("-"):
            words.append(option)
    return words


if __name__ == "__main__":
    main()
