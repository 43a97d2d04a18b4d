"""Which capability stands before which request and event.

A request of the client needs a capability of the adapter; a reverse request
or a gated event needs a flag of the client's `initialize` arguments
("Capabilities", `InitializeRequestArguments`).
"""

from dapkit.protocol import COMMANDS, EVENT_GATES, Capabilities, InitializeRequestArguments

type Announced = Capabilities | InitializeRequestArguments
"""The abilities that one end declares: the adapter in capabilities, the client in its initialize arguments."""

NOBODY = InitializeRequestArguments(adapter_id="")
"""The client before it has introduced itself: it can nothing."""


def missing_for_command(command: str, announced: Announced) -> str | None:
    """Wire name of the capability that `command` needs and `announced` lacks, or None."""
    spec = COMMANDS.get(command)
    if spec is None or spec.capability is None:
        return None
    if command == "setExceptionBreakpoints" and not getattr(announced, "supports_configuration_done_request", None):
        return None  # DAP, "Initialized Event": then it is the sign that the configuration is complete
    return _missing(spec.capability, announced)


def missing_for_event(event: str, client: InitializeRequestArguments) -> str | None:
    """Wire name of the client's flag that `event` needs and `client` lacks, or None."""
    flag = EVENT_GATES.get(event)
    return None if flag is None else _missing(flag, client)


def merged(present: Capabilities, changed: Capabilities) -> Capabilities:
    """Return `present` with every field that `changed` carries (event `capabilities`)."""
    fields = {name: getattr(present, name) for name in present.__struct_fields__}
    news = {name: value for name in fields if (value := getattr(changed, name)) is not None}
    return Capabilities(**(fields | news))


def _missing(capability: str, announced: Announced) -> str | None:
    if getattr(announced, capability):
        return None
    return announced.__struct_encode_fields__[announced.__struct_fields__.index(capability)]
