"""Exit codes: the outcome of a command for a script that does not read the text."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.cli.action_call import ActionAnswer

DONE = 0
FAILED = 1
USAGE = 2
NO_SESSION = 3
WRONG_STATE = 4
UNSUPPORTED = 5
NO_ADAPTER = 6
TIMED_OUT = 7
REFUSED = 8
NO_HUB = 9
NOT_SET = 10
NOT_KNOWN = 11
INTERRUPTED = 130

OF_CODE = {
    "invalid_arguments": USAGE,
    "no_session": NO_SESSION,
    "not_stopped": WRONG_STATE,
    "stale_reference": WRONG_STATE,
    "unsupported": UNSUPPORTED,
    "adapter_unavailable": NO_ADAPTER,
    "timeout": TIMED_OUT,
    "refused": REFUSED,
    "disabled": REFUSED,
    "no_terminal": USAGE,
    "not_installed": NO_ADAPTER,
    "not_running": WRONG_STATE,
    "not_possible": UNSUPPORTED,
    "hub_failed": NO_HUB,
    "hub_unavailable": NO_HUB,
    "hub_lost": NO_HUB,
    "hub_silent": NO_HUB,
    "folder_refused": NO_HUB,
    "other_version": NO_HUB,
}
"""Exit code by the code of an error; any other is FAILED."""

MEANINGS = (
    (DONE, "done; a program that still runs at the deadline is not an error"),
    (FAILED, "the adapter or the program refused"),
    (USAGE, "the command or its parameters were wrong"),
    (NO_SESSION, "there is no such session, or it is not clear which one is meant"),
    (WRONG_STATE, "the program is not where the command needs it, or a reference is from an earlier stop"),
    (UNSUPPORTED, "the adapter cannot do this"),
    (NO_ADAPTER, "no adapter fits, or it is not installed"),
    (TIMED_OUT, "no answer in time; run: the program still ran when the time was up, and was ended"),
    (REFUSED, "rejected: read-only mode, or debug.enabled is off"),
    (NO_HUB, "the hub could not be reached"),
    (NOT_SET, "run: a breakpoint could not be set; the program itself has ended with 0"),
    (NOT_KNOWN, "run: the program has ended, and its adapter does not report with which exit code"),
    (INTERRUPTED, "interrupted by Ctrl-C"),
)


def code_of(answer: "ActionAnswer") -> int:
    """Return the exit code for an answer."""
    if answer["success"]:
        return DONE
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return OF_CODE.get(str(code), FAILED)
