"""Starting a program under a debugger, or attaching to one."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.session import Started


@action(Approval.EXECUTE, example={"program": "app.py", "args": ["--fast"], "breakpoints": ["app.py:12"]})
async def launch(
    call: Call,
    *,
    program: p.Program | None = None,
    args: p.Args | None = None,
    module: p.Module | None = None,
    test: p.Test | None = None,
    configuration: p.Configuration | None = None,
    adapter: p.AdapterName | None = None,
    cwd: p.Folder | None = None,
    env: p.Environment | None = None,
    stdin_file: p.StdinFile | None = None,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    stop_on_entry: p.StopOnEntry | None = None,
    options: p.Options | None = None,
) -> Started:
    """Start a program, a Python module, a test or a configuration of launch.json under its debugger."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"pid": 4711})
async def attach(
    call: Call,
    *,
    pid: p.Pid | None = None,
    port: p.Port | None = None,
    host: p.Host | None = None,
    program: p.Program | None = None,
    configuration: p.Configuration | None = None,
    adapter: p.AdapterName | None = None,
    cwd: p.Folder | None = None,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    options: p.Options | None = None,
) -> Started:
    """Attach to a running process, or to a debugger or program that listens on a port."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={})
async def restart(
    call: Call,
    *,
    args: p.Args | None = None,
    env: p.Environment | None = None,
    stop_on_entry: p.StopOnEntry | None = None,
) -> Started:
    """Start the program again with the same breakpoints, which follow their lines if files were edited."""
    raise NotImplementedError
