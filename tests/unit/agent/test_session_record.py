"""The actions of a session, kept within bounds."""

from dapkit.agent import limits
from dapkit.agent.calls.session_notes import SessionRecord
from dapkit.agent.results.diagnostics import RecordedAction


def entry(action: str, *, text: str = "", details: object = None) -> RecordedAction:
    return RecordedAction(
        number=0, time=1.0, seconds=0.5, action=action, arguments={}, success=True, text=text, details=details
    )


def test_first_action_and_the_latest_are_kept_and_numbered() -> None:
    record = SessionRecord()
    for number in range(1, 1_501):
        record.add(entry(f"a{number}"))
    kept = record.entries()
    assert limits.SESSION_RECORD_ENTRIES == 1_000
    assert [kept[0].action, kept[1].action, kept[-1].action] == ["a1", "a502", "a1500"]
    assert [kept[0].number, kept[1].number, kept[-1].number] == [1, 502, 1_500]
    assert (len(kept), record.dropped) == (1_000, 500)


def test_size_of_all_answers_is_bounded() -> None:
    record = SessionRecord()
    for _ in range(100):
        record.add(entry("variables", details="x" * 60_000))
    assert sum(len(str(kept.details)) for kept in record.entries()) <= limits.SESSION_RECORD_BYTES + 60_000
    assert record.dropped == 100 - len(record.entries()) > 0


def test_of_a_long_answer_the_text_is_kept() -> None:
    record = SessionRecord()
    record.add(entry("custom_request", text="short", details="x" * 100_000))
    [kept] = record.entries()
    assert (kept.text, kept.details) == ("short", None)
