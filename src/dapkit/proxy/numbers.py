"""Sequence numbers where messages were left out or put in on their way.

`seq` counts the messages of one end, and responses and `cancel` name requests by
it (specification, "Base Protocol"). While no message has been dropped or inserted, numbers and messages pass unchanged;
after that each end gets the proxy's numbers, and fields that name a request are translated back.
"""

from collections.abc import Sequence

from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, ProtocolError, RawJson, Request, Response, changed, decode_as, encode_value
from dapkit.proxy.edits import Replacement, edited, members


class Numbers:
    """Both directions of one conversation.

    Invariant: `_shift[end]` is how many more messages have gone to `end` than its peer has sent, and
    `_asked[end]` has the number at its sender of each request that `end` knows by another number, and
    `_own[end]` the numbers of requests to `end` that its peer does not know of.
    """

    def __init__(self) -> None:
        self._shift = dict.fromkeys(Role, 0)
        self._asked: dict[Role, dict[int, int]] = {role: {} for role in Role}
        self._own: dict[Role, set[int]] = {role: set() for role in Role}
        self._last = dict.fromkeys(Role, 0)

    def passing(self, message: AnyMessage, replacement: Replacement, *, sender: Role) -> list[tuple[AnyMessage, Role]]:
        """Give numbers to the messages that replace a message, and return the end to which each is sent.

        A message that kept its `seq` continues the message from which it was made; all others are new to both ends.
        """
        messages = [] if replacement is None else replacement if isinstance(replacement, Sequence) else [replacement]
        same = next((other for other in messages if type(other) is type(message) and other.seq == message.seq), None)
        if same is not None and self._is_answer_to_us(message, sender):
            messages = [other for other in messages if other is not same]
            same = None
        self._last[sender.peer] = message.seq
        if same is None:
            self._leave_out(message, sender.peer)
        passing = []
        for passed in messages:
            to = sender if isinstance(message, Request) and isinstance(passed, Response) else sender.peer
            passing.append((self._pass_on(passed, to) if passed is same else self._put_in(passed, to), to))
        return passing

    def _is_answer_to_us(self, message: AnyMessage, sender: Role) -> bool:
        return isinstance(message, Response) and message.request_seq in self._own[sender]

    def _leave_out(self, message: AnyMessage, to: Role) -> None:
        self._shift[to] -= 1
        if isinstance(message, Response):
            self._own[to.peer].discard(message.request_seq)

    def _pass_on(self, message: AnyMessage, to: Role) -> AnyMessage:
        return self._renumbered(message, message.seq + self._shift[to], to)

    def _put_in(self, message: AnyMessage, to: Role) -> AnyMessage:
        self._shift[to] += 1
        seq = self._last[to] + self._shift[to]
        if isinstance(message, Request):
            self._own[to].add(seq)
        return changed(message, seq=seq)

    def _renumbered(self, message: AnyMessage, seq: int, to: Role) -> AnyMessage:
        match message:
            case Request():
                if seq != message.seq:
                    self._asked[to][seq] = message.seq
                if message.command == "cancel":
                    message = self._cancel(message, to)
            case Response(request_seq=asked) if asked in self._asked[to.peer]:
                message = changed(message, request_seq=self._asked[to.peer].pop(asked))
            case _:
                pass
        return message if seq == message.seq else changed(message, seq=seq)

    def _cancel(self, message: Request, to: Role) -> Request:
        try:
            request_id = members(message).get("requestId")
        except ProtocolError:  # its receiver must report its fault
            return message
        original = next(
            (number for number, sent_number in self._asked[to].items() if sent_number == request_id), request_id
        )
        return message if original == request_id else edited(message, requestId=original)


def renumbered_payload(payload: bytes, message: AnyMessage) -> bytes:
    """Put the numbers of a message into the payload that it was read from; all else in it stays as it came."""
    fields = decode_as(dict[str, RawJson], payload)
    fields["seq"] = RawJson(b"%d" % message.seq)
    if isinstance(message, Response):
        fields["request_seq"] = RawJson(b"%d" % message.request_seq)
    return encode_value(fields)
