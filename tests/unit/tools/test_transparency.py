"""What `make transparency` counts as a change."""

from datetime import date
from pathlib import Path

from transparency.explained import Explanation, open_changes, unexplained
from transparency.modes import reason_of
from transparency.outcomes import EXIT_CODE, Outcome, Run, changes, fastest, read_records, steady
from transparency.page import document, jumps
from transparency.trial import Verdict

PASSED = Outcome("passed")
FAILED = Outcome("failed")


def test_what_failed_or_came_out_otherwise_plain_is_left_out() -> None:
    first = Run({"same": PASSED, "luck": PASSED, "fails": FAILED})
    second = Run({"same": PASSED, "luck": Outcome("skipped"), "fails": FAILED})
    assert list(steady((first, second)).outcomes) == ["same"]


def test_the_fastest_tests_are_taken_as_far_as_the_time_goes() -> None:
    run = Run({"slow": Outcome("passed", seconds=2.0), "quick": Outcome("passed", seconds=0.5), "failed": FAILED})
    assert fastest(run, 1.0) == ["quick"]


def test_another_outcome_none_and_a_new_failure_are_changes() -> None:
    plain = Run({"same": PASSED, "other": PASSED, "gone": PASSED})
    run = Run({"same": PASSED, "other": FAILED, "setUpClass": Outcome("error")})
    assert set(changes(plain, run)) == {"other", "gone", "setUpClass"}


def test_another_exit_code_is_a_change_where_the_tests_are_the_same() -> None:
    assert set(changes(Run({"same": PASSED}), Run({"same": PASSED}, exit_code=129))) == {EXIT_CODE}
    assert not changes(Run({"same": PASSED}), Run({"same": PASSED}, exit_code=None))


def test_records_of_a_program_that_ended_in_a_test_name_that_test(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    ended = '{"test": "first", "outcome": "passed", "text": "", "seconds": 0.1}'
    file.write_text(f'{{"begun": "first"}}\n{ended}\n{{"begun": "second"}}\n{{"te')
    records = read_records(file)
    assert (list(records.outcomes), records.begun, records.done) == (["first"], "second", False)


def test_the_worst_outcome_of_a_repeated_test_counts(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    line = '{{"test": "it", "outcome": "{}", "text": "", "seconds": 0.1}}\n'
    file.write_text(line.format("passed") + line.format("failed") + line.format("passed"))
    assert read_records(file).outcomes["it"].outcome == "failed"


def test_an_explanation_covers_its_tests_in_its_modes_and_versions() -> None:
    known = [Explanation("test.test_x.Case.*", "Lib/x.py:1", "why", modes=("steps",), versions=("3.13",))]
    confirmed = {"test.test_x.Case.test_it": FAILED}
    assert not open_changes(Verdict("test_x", "3.13", "steps", 1, confirmed, confirmed), known)
    assert open_changes(Verdict("test_x", "3.13", "data", 1, confirmed, confirmed), known)
    assert open_changes(Verdict("test_x", "3.12", "steps", 1, confirmed, confirmed), known)


def test_few_changes_are_accepted_and_no_program_that_ends_early() -> None:
    few = {f"test {number}": FAILED for number in range(3)}
    many = {f"test {number}": FAILED for number in range(4)}
    assert not unexplained([Verdict("a", "3.13", "data", 9, few, few)], 3)
    assert unexplained([Verdict("a", "3.13", "data", 9, many, many)], 3)
    assert unexplained([Verdict("a", "3.13", "data", 9, stuck=("test 1",))], 3)


def test_refused_jumps_are_counted_by_reason() -> None:
    text = "diverged: at clock {} the program called read where it had called write at clock 7, at /x.py:3"
    assert {reason_of(text.format(9)), reason_of("stepBack: " + text.format(10))} == {
        "diverged: read where it had called write"
    }
    assert reason_of("diverged: wait4 where it had called wait4") == "diverged: wait4 where it had called wait4"
    assert reason_of("no process of the past began within 20 s") == "no process of the past began within N s"


def test_jumps_stand_in_the_page_with_those_that_were_refused() -> None:
    first = Verdict("a", "3.13", "travel", 9, jumps=1200, refused={"diverged": 2})
    second = Verdict("b", "3.13", "travel", 9, jumps=34, refused={"diverged": 1, "late": 1})
    assert "| 3.13 | 1,234 | 4 | diverged (3); late (1) |" in jumps([first, second, Verdict("a", "3.13", "data", 9)])


def test_a_measurement_of_time_travel_alone_has_a_page_of_its_own() -> None:
    text = document([Verdict("test_io", "3.13", "travel", 9, jumps=20)], day=date(2026, 11, 24))
    assert text.startswith("# Transparency of time travel")
    assert "| `travel` | 3.13 | 9 | 0 | 0 | 0 | 0 |" in text
    assert "test_current_exceptions" in text
    assert "test_idle_thread_reuse" not in text  # which is explained in the mode `raised` alone
