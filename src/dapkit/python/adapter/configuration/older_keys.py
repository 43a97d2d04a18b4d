"""Older keys of configurations, said by those that have replaced them.

debugOptions             a list of flags, each of which stands for a key
debugStdLib              `justMyCode`, the other way round, where that is not given
stopAllThreadsOnSuspend  `stopAllThreads`
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch

FLAGS: Final[Mapping[str, str]] = {
    "BreakOnSystemExitZero": "break_on_system_exit_zero",
    "DebugStdLib": "debug_std_lib",
    "Django": "django",
    "Flask": "flask",
    "Jinja": "jinja",
    "Multiprocess": "sub_process",
    "RedirectOutput": "redirect_output",
    "ShowReturnValue": "show_return_value",
    "StopOnEntry": "stop_on_entry",
}
"""Fields that are true if a flag is among `debugOptions`; others say nothing that matters here."""


def without_older_keys[Start: PythonLaunch | PythonAttach](args: Start) -> Start:
    """Return arguments that say the same without older keys."""
    flags = (FLAGS[flag] for flag in args.debug_options if flag in FLAGS)
    args = msgspec.structs.replace(args, **dict.fromkeys((name for name in flags if hasattr(args, name)), True))
    changes: dict[str, bool] = {}
    if args.just_my_code is None and args.debug_std_lib:
        changes["just_my_code"] = False
    if args.stop_all_threads_on_suspend is not None:
        changes["stop_all_threads"] = args.stop_all_threads_on_suspend
    return msgspec.structs.replace(args, **changes)
