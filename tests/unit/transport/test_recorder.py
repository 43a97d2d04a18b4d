import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from dapkit.endpoint import Endpoint, Role
from dapkit.protocol import Capabilities, InitializeRequestArguments, RawJson, Request, Response, encode, encode_frame
from dapkit.transport import Connection, Recorder, background_tasks, memory_pair

REQUEST = encode(Request(1, "initialize", RawJson(b'{"adapterID":"x","odd":1.50}')))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


async def test_conversation_is_recorded_with_who_said_what(tmp_path: Path) -> None:
    ours, theirs = memory_pair()
    with Recorder(tmp_path / "t", role=Role.CLIENT) as recorder:
        async with Connection(ours, Endpoint(Role.CLIENT), tap=recorder) as client, background_tasks() as tasks:

            async def answer() -> None:
                await theirs.receive()
                await theirs.send(encode_frame(encode(Response(1, 1, True, "initialize", body=Capabilities()))))  # noqa: FBT003 - success

            tasks.start_soon(answer)
            await client.request(InitializeRequestArguments(adapter_id="x"))
    said = lines(tmp_path / "t")
    assert [entry["from"] for entry in said] == ["client", "adapter"]
    assert said[0]["message"]["command"] == "initialize"
    assert said[1]["message"]["request_seq"] == 1
    assert isinstance(said[0]["time"], float)


def test_adapter_records_what_it_receives_as_the_clients(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t", role=Role.ADAPTER)
    recorder("received", encode_frame(REQUEST))
    assert lines(tmp_path / "t")[0]["from"] == "client"
    recorder.close()


def test_message_stands_there_as_it_was_on_the_wire(tmp_path: Path) -> None:
    with Recorder(tmp_path / "t", role=Role.CLIENT) as recorder:
        recorder("sent", encode_frame(REQUEST))
    assert b'"message":' + REQUEST + b"}\n" in (tmp_path / "t").read_bytes()


def test_message_over_several_lines_becomes_one(tmp_path: Path) -> None:
    with Recorder(tmp_path / "t", role=Role.CLIENT) as recorder:
        recorder("sent", encode_frame(b'{\r\n  "seq": 1,\n  "text": "a\\nb"\n}'))
    assert lines(tmp_path / "t")[0]["message"] == {"seq": 1, "text": "a\nb"}


def test_each_line_is_in_the_file_when_its_message_has_passed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t", role=Role.CLIENT)
    data = encode_frame(REQUEST)
    recorder("sent", data[:30])
    assert lines(tmp_path / "t") == []
    recorder("sent", data[30:] + data)
    assert len(lines(tmp_path / "t")) == 2
    recorder.close()


@pytest.mark.parametrize(
    ("payload", "text"), [(b"not JSON", "not JSON"), (b'"\xff"', '"\\xff"'), (b"[" * 100_000, "[" * 100_000)]
)
def test_payload_that_is_no_json_is_recorded_as_text(tmp_path: Path, payload: bytes, text: str) -> None:
    with Recorder(tmp_path / "t", role=Role.CLIENT) as recorder:
        recorder("received", encode_frame(payload))
    [entry] = lines(tmp_path / "t")
    assert entry["text"] == text
    assert "no JSON" in str(entry["problem"])


def test_bytes_that_are_no_frames_are_recorded_once_and_the_other_direction_goes_on(tmp_path: Path) -> None:
    with Recorder(tmp_path / "t", role=Role.CLIENT) as recorder:
        recorder("received", encode_frame(REQUEST) + b"garbage\r\n")
        recorder("received", b"more garbage\r\n")
        recorder("sent", encode_frame(REQUEST))
    assert [("message" in entry, entry["from"]) for entry in lines(tmp_path / "t")] == [
        (True, "adapter"),
        (False, "adapter"),
        (True, "client"),
    ]


def test_full_disk_ends_the_recording_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(Path("/dev/full"), role=Role.CLIENT)
    recorder("sent", encode_frame(REQUEST))
    recorder("sent", encode_frame(REQUEST))
    assert [record.message for record in caplog.records] == [
        "the transcript /dev/full ends here: No space left on device"
    ]


def test_closed_recorder_ignores_what_passes(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t", role=Role.CLIENT)
    recorder.close()
    recorder.close()
    recorder("sent", encode_frame(REQUEST))
    assert lines(tmp_path / "t") == []


def test_transcript_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Recorder(tmp_path / "t", role=Role.CLIENT).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o600
