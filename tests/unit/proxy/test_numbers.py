from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, Event, RawJson, Request, Response
from dapkit.proxy.edits import Replacement, members
from dapkit.proxy.passage import Numbers

CLIENT, ADAPTER = Role.CLIENT, Role.ADAPTER


def asks(seq: int, command: str = "threads", arguments: bytes | None = None) -> Request:
    return Request(seq, command, None if arguments is None else RawJson(arguments))


def answers(seq: int, request: int, command: str = "threads") -> Response:
    return Response(seq, request, success=True, command=command)


def passed(
    numbers: Numbers, message: AnyMessage, sender: Role, replacement: Replacement | str = "itself"
) -> list[tuple[str, int, Role]]:
    given = message if isinstance(replacement, str) else replacement
    return [(type(made).__name__, made.seq, to) for made, to in numbers.passing(message, given, sender=sender)]


def test_untouched_messages_are_the_same_objects() -> None:
    numbers, request = Numbers(), asks(1)
    [(made, to)] = numbers.passing(request, request, sender=CLIENT)
    assert made is request
    assert to is ADAPTER


def test_messages_after_a_missing_one_move_up() -> None:
    numbers = Numbers()
    assert passed(numbers, Event(1, "output"), ADAPTER, None) == []
    assert passed(numbers, Event(2, "output"), ADAPTER) == [("Event", 1, CLIENT)]


def test_messages_after_an_additional_one_make_room() -> None:
    numbers, event = Numbers(), Event(7, "stopped")
    assert passed(numbers, event, ADAPTER, [event, Event(0, "output")]) == [("Event", 7, CLIENT), ("Event", 8, CLIENT)]
    assert passed(numbers, Event(8, "output"), ADAPTER) == [("Event", 9, CLIENT)]


def test_request_can_be_answered_on_the_way() -> None:
    numbers = Numbers()
    numbers.passing(Event(4, "output"), Event(4, "output"), sender=ADAPTER)
    assert passed(numbers, asks(1), CLIENT, answers(0, 1)) == [("Response", 5, CLIENT)]
    assert passed(numbers, asks(2), CLIENT) == [("Request", 1, ADAPTER)]
    assert passed(numbers, Event(5, "output"), ADAPTER) == [("Event", 6, CLIENT)]


def test_response_names_the_request_as_its_sender_numbered_it() -> None:
    numbers = Numbers()
    numbers.passing(asks(1), answers(0, 1), sender=CLIENT)
    numbers.passing(asks(2), asks(2), sender=CLIENT)
    response = answers(1, 1)
    [(made, to)] = numbers.passing(response, response, sender=ADAPTER)
    assert isinstance(made, Response)
    assert (made.request_seq, made.seq, to) == (2, 2, CLIENT)


def test_cancel_names_the_request_as_its_receiver_knows_it() -> None:
    numbers = Numbers()
    numbers.passing(asks(1), answers(0, 1), sender=CLIENT)
    numbers.passing(asks(2), asks(2), sender=CLIENT)
    cancel = asks(3, "cancel", b'{"requestId":2}')
    [(made, _)] = numbers.passing(cancel, cancel, sender=CLIENT)
    assert members(made) == {"requestId": 1}


def test_cancel_that_cannot_be_read_passes() -> None:
    numbers, cancel = Numbers(), asks(1, "cancel", b"[1]")
    assert numbers.passing(cancel, cancel, sender=CLIENT) == [(cancel, ADAPTER)]


def test_request_of_the_proxy_is_answered_to_the_proxy_alone() -> None:
    numbers, request = Numbers(), asks(1)
    assert passed(numbers, request, CLIENT, [request, asks(0, "modules")]) == [
        ("Request", 1, ADAPTER),
        ("Request", 2, ADAPTER),
    ]
    assert passed(numbers, answers(1, 2, "modules"), ADAPTER) == []
    assert passed(numbers, answers(2, 1), ADAPTER) == [("Response", 1, CLIENT)]
