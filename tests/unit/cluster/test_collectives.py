import json
from collections.abc import Mapping, Sequence

import pytest

from dapkit.cluster.collectives import Collective, FlightRecords, waits_in
from dapkit.cluster.torch_debug_server import dumps_in, records_in

ALL = [0, 1, 2, 3]
PERHAPS = "member 3 perhaps, of which PyTorch's debug server has no record"
UNKNOWN = "members of that group that have not begun it; PyTorch does not tell which"


def collective(number: int, operation: str = "all_reduce", *, waits: bool = True, seconds: float = 5.0) -> Collective:
    return Collective(group="1", title="tensor", number=number, operation=operation, waits=waits, seconds=seconds)


def texts(
    last: Mapping[int, Collective | None], ranks: Sequence[int] | None = ALL, silent: Sequence[int] = ()
) -> list[str]:
    """Return the waits of ranks by their last collective in one group."""
    collectives = {rank: [] if each is None else [each] for rank, each in last.items()}
    groups = {} if ranks is None else {"1": list(ranks)}
    records = FlightRecords(collectives=collectives, groups=groups, silent=list(silent))
    return [f"{wait.waiting} for {wait.on}" for wait in waits_in(records, {rank: str(rank) for rank in ALL})]


@pytest.mark.parametrize(
    ("last", "ranks", "silent", "waits"),
    [
        (
            {0: collective(3), 1: collective(3), 2: collective(2, waits=False), 3: None},
            ALL,
            (),
            ["members 0-1 in all_reduce 3 of tensor for members 2-3, which have not begun it"],
        ),
        (
            {0: collective(3), 1: collective(3), 2: collective(3, "broadcast"), 3: collective(3)},
            ALL,
            (),
            ["members 0-1,3 in all_reduce 3 of tensor for member 2, which began broadcast there"],
        ),
        (
            {0: collective(3), 1: None},
            None,
            (),
            [f"member 0 in all_reduce 3 of tensor for {UNKNOWN}"],
        ),
        (
            {0: collective(3), 1: collective(3), 2: collective(3)},
            ALL,
            [3],
            [f"members 0-2 in all_reduce 3 of tensor for {PERHAPS}"],
        ),
        (
            dict.fromkeys(ALL, collective(3)),
            ALL,
            (),
            ["members 0-3 in all_reduce 3 of tensor for its end, which all members of that group have begun"],
        ),
        (dict.fromkeys(ALL, collective(3, waits=False)), ALL, (), []),
    ],
    ids=["behind", "another operation", "unknown group", "silent", "all there", "no wait"],
)
def test_ranks_wait_for_those_that_have_not_begun_their_collective(
    last: Mapping[int, Collective | None], ranks: Sequence[int] | None, silent: Sequence[int], waits: list[str]
) -> None:
    assert texts(last, ranks, silent) == waits


def entry(number: int, group: tuple[str, str] = ("0", "default_pg"), **changes: object) -> dict[str, object]:
    return {
        "collective_seq_id": number,
        "is_p2p": False,
        "process_group": list(group),
        "profiling_name": "gloo:all_reduce",
        "retired": False,
        "state": "scheduled",
        "time_created_ns": 100 * 10**9,
        **changes,
    }


def test_last_collective_of_each_group_counts() -> None:
    dump = {
        "entries": [entry(1, retired=True), entry(2), entry(9, is_p2p=True), entry(1, ("4", ""), state="completed")]
    }
    records = records_in([(0, dump), (1, {"entries": []}), (2, None), (2, {})], now=107.0)
    default, other = records.collectives[0]
    assert (default.title, default.number, default.operation, default.waits) == ("default_pg", 2, "all_reduce", True)
    assert default.seconds == pytest.approx(7.0)
    assert (other.group, other.title, other.waits) == ("4", "4", False)
    assert records.groups == {"0": [0, 1, 2]}
    assert records.silent == [1, 2]  # the recorder of rank 1 may be off


def test_ranks_of_a_group_are_known_where_its_name_is_with_them() -> None:
    nccl = {"entries": [entry(1, ("1", "tensor"))], "pg_config": {"1": {"name": "1", "ranks": "[0, 1]"}}}
    gloo = {"entries": [], "pg_config": {"": {"name": "", "ranks": "[2, 3]"}}}
    assert records_in([(0, nccl), (1, gloo)], now=0.0).groups == {"1": [0, 1]}


def test_page_has_a_text_for_each_rank() -> None:
    page = (
        "<h1>FlightRecorder</h1><pre>of no rank</pre><h2>Rank 0: http://node:1/handler/fr_trace_json?backend=gloo</h2>"
        "<pre>{&#34;version&#34;: &#34;2.10 &lt;x&gt;&#34;}</pre><h2>Rank 1: http://node:2/</h2>"
        "<p>Failed to fetch: status=408</p><pre>TimeoutError: </pre><h2>Rank 2: http://node:3/</h2><pre>[]</pre>"
    )
    assert list(dumps_in(page)) == [(0, json.loads('{"version": "2.10 <x>"}')), (1, None), (2, None)]
