"""What the adapter can do less where a program runs without debugging (`noDebug`): all that needs a stop.

Breakpoints may be set all the same, and are answered as not verified: clients do so before they know.
"""

from dapkit.protocol import Capabilities
from dapkit.python.adapter.arguments import PythonAttach, PythonLaunch


def abilities(start: PythonLaunch | PythonAttach) -> Capabilities:
    """Return those capabilities that depend on how the program is started."""
    debugs = start.no_debug is not True if isinstance(start, PythonLaunch) else True
    return Capabilities(
        supports_conditional_breakpoints=debugs,
        supports_hit_conditional_breakpoints=debugs,
        supports_log_points=debugs,
        supports_evaluate_for_hovers=debugs,
        supports_exception_info_request=debugs,
        supports_goto_targets_request=debugs,
        supports_restart_frame=debugs,
        supports_set_variable=debugs,
        supports_single_thread_execution_requests=debugs,
        supports_step_in_targets_request=debugs,
        supports_stepping_granularity=debugs,
    )
