"""The log of the hub: its newest lines, older ones, filters, and files that are damaged."""

import os
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest

from dapkit import limits
from dapkit.diagnostics import limits as diagnostics_limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.log_following import LogFollower, follow
from dapkit.diagnostics.log_lines import LEVELS, Level, LogFilter, LogLine, shown
from dapkit.diagnostics.logs import LogReader, last_lines, logged_days, logs, today
from dapkit.diagnostics.sessions import Where

WHERE = Where("/")
OLD, OLDER = "2020-01-02", "2020-01-01"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the logs."""
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = tmp_path / "run" / "state" / "logs"
    made.mkdir(parents=True, mode=0o700)
    (tmp_path / "run").chmod(0o700)
    (tmp_path / "run" / "state").chmod(0o700)
    return made


def entry(text: str, *, pid: int = 1, level: str = "INFO", day: str = OLD) -> str:
    return f"{day} 05:03:12,417 {pid} {level} dapkit.hub: {text}\n"


def write(folder: Path, day: str, content: str | bytes) -> Path:
    path = folder / f"hub-{day}.log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def messages(lines: list[LogLine]) -> list[str]:
    return [line.message for line in lines]


def test_empty_log_is_a_sentence(folder: Path) -> None:
    assert logs(WHERE).as_text() == f"The hub has logged nothing on {today()}."
    write(folder, OLD, "")
    assert logs(WHERE).as_text() == f"The hub has logged nothing on {today()}. There are logs of {OLD}."
    assert logs(WHERE, day=OLD).as_text() == f"The hub has logged nothing on {OLD}."
    assert last_lines(5).as_text() == f"The hub has logged nothing. There are logs of {OLD}."


def test_record_has_its_traceback(folder: Path) -> None:
    write(
        folder, OLD, entry("failed", level="ERROR") + "  Traceback:\n    line 1\n  ValueError\n" + entry("next", pid=2)
    )
    found = logs(WHERE, day=OLD)
    assert found.as_json()["records"] == [
        {
            "day": OLD,
            "number": 1,
            "lines": 4,
            "time": f"{OLD} 05:03:12,417",
            "pid": 1,
            "level": "error",
            "logger": "dapkit.hub",
            "text": "failed\nTraceback:\n  line 1\nValueError",
        },
        {
            "day": OLD,
            "number": 5,
            "lines": 1,
            "time": f"{OLD} 05:03:12,417",
            "pid": 2,
            "level": "info",
            "logger": "dapkit.hub",
            "text": "next",
        },
    ]
    assert found.as_text() == (folder / f"hub-{OLD}.log").read_text().removesuffix("\n")
    assert found.as_numbered_text().splitlines()[2] == "3      line 1"


def test_newest_fifty_lines_come_first_and_then_fifty_older_ones_of_the_day_and_of_days_before(folder: Path) -> None:
    write(folder, OLDER, "".join(entry(f"older {number}") for number in range(60)))
    write(folder, OLD, "".join(entry(f"old {number}") for number in range(120)))
    write(folder, "2020-01-03", "".join(entry("later") for _ in range(3)))
    reader = LogReader(OLD, redaction=None)
    assert messages(reader.of_day(50)) == [f"old {number}" for number in range(70, 120)]
    assert messages(reader.older(50)) == [f"old {number}" for number in range(20, 70)]
    assert messages(reader.older(50)) == [f"old {number}" for number in range(20)]
    assert reader.of_day(50) == []
    assert messages(reader.older(50)) == [f"older {number}" for number in range(10, 60)]
    before = reader.exhausted
    assert messages(reader.older(50)) == [f"older {number}" for number in range(10)]
    assert (before, reader.exhausted, reader.limited) == (False, True, False)
    assert reader.older(50) == []


def test_numbers_of_lines_are_those_of_the_file_of_the_day(folder: Path) -> None:
    write(folder, OLD, "".join(entry(f"n {number}") for number in range(1, limits.LOG_LINES + 101)))
    found = logs(WHERE, day=OLD)
    assert [line.number for line in found.lines] == list(range(limits.LOG_LINES + 51, limits.LOG_LINES + 101))
    assert found.lines[0].message == f"n {limits.LOG_LINES + 51}"
    chosen = logs(WHERE, day=OLD, numbers=(120, 122))
    assert [(line.number, line.message) for line in chosen.lines] == [(120, "n 120"), (121, "n 121"), (122, "n 122")]


def test_lines_before_those_that_are_read_are_refused(folder: Path) -> None:
    path = write(folder, OLD, "".join(entry(f"n {number}") for number in range(limits.LOG_LINES + 100)))
    with pytest.raises(DiagnosticsError, match="Line 100 of 2020-01-02 is not read: line 101 is the first") as refused:
        logs(WHERE, day=OLD, numbers=(100, 120))
    assert (refused.value.code, refused.value.hint) == ("not_possible", f"All of it is in {path}")


def test_no_more_than_five_thousand_lines_are_read_of_all_days_together(folder: Path) -> None:
    write(folder, OLDER, "".join(entry("older") for _ in range(3000)))
    write(folder, OLD, "".join(entry("old") for _ in range(3000)))
    reader = LogReader(OLD, redaction=None)
    found = reader.of_day(10_000)
    while more := reader.older(10_000):
        found = more + found
    assert len(found) == limits.LOG_LINES == 5000
    assert found[0].number == 1001
    assert reader.limited
    assert reader.exhausted


def test_no_more_than_two_mebibytes_are_read_of_all_days_together(folder: Path) -> None:
    line = entry("x" * 1000)
    write(folder, OLDER, line * 1500)
    write(folder, OLD, line * 1500)
    reader = LogReader(OLD, redaction=None)
    found = reader.of_day(10_000)
    while more := reader.older(10_000):
        found = more + found
    assert diagnostics_limits.LOG_BYTES == 2 * 1024 * 1024
    assert (
        diagnostics_limits.LOG_BYTES - 2 * len(line)
        < sum(len(line.text) + 1 for line in found)
        <= diagnostics_limits.LOG_BYTES
    )
    assert reader.limited
    assert reader.exhausted


def test_filters_by_process_and_by_level_take_whole_records(folder: Path) -> None:
    content = (
        entry("a", pid=1) + entry("b", pid=2, level="ERROR") + "  more of b\n" + entry("c", pid=3, level="WARNING")
    )
    write(folder, OLD, content)
    assert [line.message for line in logs(WHERE, day=OLD, pids=[2, 3]).lines] == ["b", "more of b", "c"]
    assert [line.message for line in logs(WHERE, day=OLD, level="error").lines] == ["b", "more of b"]
    assert [line.message for line in logs(WHERE, day=OLD, level="warning", pids=[3]).lines] == ["c"]
    nothing = logs(WHERE, day=OLD, pids=[9])
    assert nothing.as_text() == "None of the lines that were read is wanted; there are 4."


@pytest.mark.parametrize("level", LEVELS)
def test_level_is_the_least_that_is_wanted(folder: Path, level: Level) -> None:
    write(folder, OLD, "".join(entry(name, level=name.upper()) for name in LEVELS))
    assert [line.message for line in logs(WHERE, day=OLD, level=level).lines] == list(LEVELS[LEVELS.index(level) :])


def test_older_lines_are_looked_for_until_enough_are_wanted(folder: Path) -> None:
    write(folder, OLDER, entry("wanted", pid=2) + entry("x") * 100)
    write(folder, OLD, entry("x") * 100)
    reader = LogReader(OLD, redaction=None)
    wanted = LogFilter(frozenset([2]))
    assert len(reader.of_day(50)) == 50
    found = reader.older(50, wanted)
    assert messages([line for line in found if wanted.passes(line)]) == ["wanted"]
    assert len(found) == 151


def test_last_lines_are_of_as_many_days_as_it_takes(folder: Path) -> None:
    now = date.fromisoformat(today())
    yesterday = (now - timedelta(days=1)).isoformat()
    write(folder, OLD, entry("a") + entry("b"))
    write(folder, yesterday, entry("c"))
    write(folder, today(), entry("d") + entry("e"))
    assert [line.message for line in last_lines(4).lines] == ["b", "c", "d", "e"]
    assert [line.message for line in last_lines(100).lines] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("obstacle", ["link", "fifo", "folder", "too large"])
def test_file_that_cannot_be_read_is_named_and_the_others_are_read(folder: Path, tmp_path: Path, obstacle: str) -> None:
    path = folder / f"hub-{OLD}.log"
    match obstacle:
        case "link":
            (tmp_path / "target").write_text(entry("of somebody else"))
            path.symlink_to(tmp_path / "target")
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            with path.open("wb") as file:
                file.truncate(3 * limits.LOG_DAY_BYTES)
    write(folder, OLDER, entry("older"))
    found = last_lines(10)
    assert [line.message for line in found.lines] == ["older"]
    [problem] = found.problems
    reason = {
        "link": "it is a link",
        "too large": f"it has {3 * limits.LOG_DAY_BYTES} bytes, and the hub writes {limits.LOG_DAY_BYTES}",
    }.get(obstacle, "it is not a regular file")
    assert problem == f"{path}: {reason}"
    assert logs(WHERE, day=OLD).problems == [problem]


def test_bytes_that_are_no_text_are_shown_as_such(folder: Path) -> None:
    write(folder, OLD, entry("before").encode() + b"\xff\xfe\x00\x1b[31m\r\n" + entry("after").encode())
    found = logs(WHERE, day=OLD)
    assert [line.message for line in found.lines] == ["before", "\ufffd\ufffd\x00\x1b[31m\r", "after"]
    assert found.as_text().splitlines()[1] == "\ufffd\ufffd\\x00\\x1b[31m\\r"


def test_line_of_a_mebibyte_is_cut(folder: Path) -> None:
    write(folder, OLD, entry("x" * limits.MEGABYTE) + entry("after"))
    first, second = logs(WHERE, day=OLD).lines
    assert len(first.text) == diagnostics_limits.LOG_LINE_CHARACTERS + 3
    assert (second.number, second.message) == (2, "after")


def test_line_that_is_longer_than_all_that_is_read_is_shown_by_its_end(folder: Path) -> None:
    write(folder, OLD, "x" * (3 * limits.MEGABYTE) + "\n")
    reader = LogReader(OLD, redaction=None)
    [line] = reader.of_day(50)
    assert (line.record, line.number) == (None, 1)
    assert reader.limited


def test_record_that_was_cut_by_the_end_of_the_hub_is_shown(folder: Path) -> None:
    write(folder, OLD, entry("whole") + entry("cut").removesuffix("t\n"))
    assert [line.message for line in logs(WHERE, day=OLD).lines] == ["whole", "cu"]


def test_secrets_are_left_out_also_over_several_lines_unless_they_are_to_be_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "planted-1\nplanted-2")
    write(
        folder, OLD, entry("--password planted-0 and planted-1") + "  planted-2 password=planted-3\n" + entry("after")
    )
    found = logs(WHERE, day=OLD)
    assert [(line.number, line.message) for line in found.lines] == [
        (1, "--password [redacted] and [redacted] password=[redacted]"),
        (3, "after"),
    ]
    monkeypatch.setenv("DAPKIT_REDACT_ENABLED", "false")
    assert "planted-3" in logs(WHERE, day=OLD).as_text()
    assert "planted" not in last_lines(10).as_text()


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "20261124", "2026-11-24/../x", ""])
def test_day_that_is_none_is_refused(day: str) -> None:
    with pytest.raises(DiagnosticsError, match="expected a day such as ") as refused:
        logs(WHERE, day=day)
    assert refused.value.code == "invalid_arguments"


def test_folder_that_cannot_be_used_is_an_error(folder: Path) -> None:
    folder.parent.chmod(0o755)
    with pytest.raises(DiagnosticsError, match="is open to others") as refused:
        logged_days()
    assert refused.value.code == "no_folder"


def test_follower_gives_what_is_added_without_gaps_and_goes_on_with_the_next_day(folder: Path) -> None:
    path = write(folder, OLD, entry("a") + entry("b"))
    reader = LogReader(OLD, redaction=None)
    last = reader.of_day(1)[-1]
    follower = LogFollower(OLD, last, redaction=None)
    with path.open("a", newline="\n") as file:
        file.write(entry("c") + "  more\n" + entry("half")[:-3])
        file.flush()
        added = follower.poll()
        assert [(line.number, line.message) for line in added] == [(3, "c"), (4, "more")]
        assert added[1].record == added[0].record
        assert follower.poll() == []
        file.write("lf\n")
        file.flush()
        assert messages(follower.poll()) == ["half"]
    write(folder, "2020-01-03", entry("next day"))
    assert [(line.day, line.number, line.message) for line in follower.poll()] == [("2020-01-03", 1, "next day")]
    assert follower.poll() == []


def test_follower_begins_again_in_a_file_that_was_emptied(folder: Path) -> None:
    path = write(folder, OLD, entry("a") * 10)
    follower = LogFollower(OLD, None, redaction=None)
    assert len(follower.poll()) == 10
    path.write_bytes(entry("b").encode())
    assert [(line.number, line.message) for line in follower.poll()] == [(1, "b")]


def test_following_gives_the_last_lines_and_then_those_that_come(folder: Path) -> None:
    path = write(folder, today(), "".join(entry(f"{number}", pid=number % 2 + 1) for number in range(10)))
    got: list[str] = []
    enough = threading.Event()
    stop = threading.Event()

    def take(lines: object) -> None:
        assert isinstance(lines, list)
        got.extend(messages(lines))
        if len(got) == 3:
            with path.open("a", newline="\n") as file:
                file.write(entry("of another", pid=2) + entry("wanted", pid=1))
        if "wanted" in got:
            stop.set()
            enough.set()

    follow(WHERE, take, stop=stop, pids=[1], lines=3)
    assert enough.is_set()
    assert got == ["4", "6", "8", "wanted"]


def test_log_that_cannot_be_followed_is_an_error(folder: Path, tmp_path: Path) -> None:
    (folder / f"hub-{today()}.log").symlink_to(tmp_path / "x")
    with pytest.raises(DiagnosticsError, match="cannot be read: it is a link"):
        follow(WHERE, lambda _lines: None, stop=threading.Event())


def test_line_is_fit_for_a_terminal() -> None:
    assert shown(LogLine(OLD, 1, None, "a\tb\x1b[31m\u202e")) == "a       b\\x1b[31m\\u202e"
