"""Actions on debug sessions for coding agents and scripts, as functions.

    import dapkit.agent as debug

    stop = debug.launch(program="app.py", breakpoints=["app.py:12"]).result.stop
    print(debug.evaluate("total"))
    debug.terminate()

Every action is a blocking function; an answer has `text`, `details` and a typed `result`. Paths are relative to the
current folder. `session` names a session, where there are several; `project` is the folder that they belong to, by
default the project around the current folder.

The functions are made in `dapkit.agent.api`, which is imported when one of them is asked for: the command line has only
milliseconds, and needs nothing but `dapkit.agent.table`. Their signatures are in the generated `__init__.pyi`.
"""

from keyword import iskeyword

from dapkit.agent.table import ACTIONS

__all__ = ["ActionError", "Answer", *(f"{name}_" if iskeyword(name) else name for name in ACTIONS)]  # noqa: PLE0604 - they are names


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'dapkit.agent' has no attribute {name!r}")
    from dapkit.agent import api

    return getattr(api, name) if name in {"ActionError", "Answer"} else api.action_function(name)
