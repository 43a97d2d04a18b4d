"""What perf script writes, and what is made of it."""

from dapkit.diagnostics.profiling.perf import stacks_in
from dapkit.diagnostics.profiling.samples import KERNEL, SampledFrame

WRITTEN = """\
30209
\tffffffff813a4413 finish_task_switch.isra.0 ([kernel.kallsyms])
\tffffffff821faa94 __schedule ([kernel.kallsyms])
\t            1178 spin (/tmp/we (ird)/busy)
\t            11c0 main (/tmp/we (ird)/busy)
\t           2724a __libc_start_call_main (/usr/lib/x86_64-linux-gnu/libc.so.6)

 1234
\t    7f0011223344 [unknown] (/usr/lib/libfoo.so)
\t    7f0011223355 [unknown] (/usr/lib/libfoo.so)
\t            1178 Shop<int>::total(std::vector<int> const&) const (/tmp/we (ird)/busy)
\tnonsense
\t    7f0011223366 [unknown] ([unknown])
"""
PROGRAM = "/tmp/we (ird)/busy"  # noqa: S108 - no file is there


def test_samples_are_read_with_the_outermost_call_first() -> None:
    first, second = stacks_in(WRITTEN.splitlines(keepends=True), PROGRAM)
    assert first == (
        SampledFrame("__libc_start_call_main", "libc.so.6"),
        SampledFrame("main", "busy", kind="own"),
        SampledFrame("spin", "busy", kind="own"),
        KERNEL,
    )
    assert [str(frame) for frame in second] == [
        "[unknown]",
        "Shop<int>::total(std::vector<int> const&) const (busy)",
        "[unknown] (libfoo.so)",
    ]


def test_recursion_is_no_row_of_unknown_calls() -> None:
    lines = ["1\n", "\t 10 fib (/p)\n", "\t 10 fib (/p)\n", "\n"]
    assert list(stacks_in(lines, "/p")) == [(SampledFrame("fib", "p", kind="own"),) * 2]


def test_standard_library_of_go_is_not_the_program() -> None:
    lines = [
        "1\n",
        "\t 10 main.spin (/p)\n",
        "\t 11 runtime.main (/p)\n",
        "\t 12 example.com/shop.(*Cart).Total (/p)\n",
    ]
    [stack] = stacks_in(lines, "/p", is_go=True)
    assert [frame.kind for frame in stack] == ["own", "library", "own"]


def test_nothing_written_is_no_sample() -> None:
    assert list(stacks_in([], PROGRAM)) == []
