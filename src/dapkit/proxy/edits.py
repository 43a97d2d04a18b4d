"""The changes that a proxy may make to a message.

A function of the user's gets each readable message, and returns the messages to send in its place. Arguments and bodies
are raw JSON there, so that untouched parts are sent unchanged, unknown members included; `members` looks into them and
`edited` changes them.
"""

from collections.abc import Awaitable, Callable, Sequence

from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, RawJson, Request, changed, decode_as, encode_value

type Replacement = AnyMessage | Sequence[AnyMessage] | None
"""The messages to send in place of a message: another one, several, or none."""

type Edit = Callable[[AnyMessage, Role], Replacement | Awaitable[Replacement]]
"""Takes a message and the end that sent it; a function or a coroutine function.

* The message itself: it continues, byte for byte.
* Another message, or several: they continue in its place. Their `seq` is set by the proxy.
* A `Response` in place of a `Request`: it goes back to the end that asked, with the `seq` of the request
  as its `request_seq`, and the other end never sees the request.
* None: nothing continues. The end that sent a request then waits in vain: better answer it.
"""


def unchanged(message: AnyMessage, sender: Role) -> AnyMessage:  # noqa: ARG001 - as `Edit` has it
    """Let the message continue as it is."""
    return message


def members(message: AnyMessage) -> dict[str, object]:
    """Read the arguments of a request, or the body of a response or an event, as JSON: `{}` if absent.

    >>> from dapkit.protocol import Event
    >>> members(Event(1, "exited", RawJson(b'{"exitCode": 3}')))
    {'exitCode': 3}

    Raises:
        InvalidValue: they are not a JSON object.

    """
    content = message.arguments if isinstance(message, Request) else message.body
    raw = content if content is None or isinstance(content, RawJson) else RawJson(encode_value(content))
    return decode_as(dict[str, object], raw)


def edited[M: AnyMessage](message: M, **changes: object) -> M:
    """Copy a message with other members in its arguments or body, by their names on the wire; None removes one.

    >>> from dapkit.protocol import Event, encode
    >>> encode(edited(Event(1, "exited", RawJson(b'{"exitCode": 3, "odd": []}')), exitCode=0))
    b'{"type":"event","seq":1,"event":"exited","body":{"exitCode":0,"odd":[]}}'

    Raises:
        InvalidValue: the arguments or the body are not a JSON object.
        TypeError: a value has no form in JSON.

    """
    merged = {name: value for name, value in {**members(message), **changes}.items() if value is not None}
    content = RawJson(encode_value(merged))
    return changed(message, **{"arguments" if isinstance(message, Request) else "body": content})
