"""The picture of the hot function: it shows the figures of one Python, and there is an error where there are none."""

import pytest

from figures_chart import Slowdown, chart, slowdowns

PAGE = """
| case | 3.12.1 | 3.13.0 |
| --- | ---: | ---: |
| a breakpoint on an unreached line of the hot function: fib | **1.06** (164.94) | 1.01 (143.35) |
| a breakpoint elsewhere: fib | 1.00 (1.10) | 1.02 (1.05) |
"""


def test_figures_are_those_of_one_python() -> None:
    assert slowdowns(PAGE) == [Slowdown("fib", 1.01, 143.35)]


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("", "has no figures of Python 3.13"),
        (PAGE.replace("3.13.0", "3.16.0"), "has no figures of Python 3.13"),
        (PAGE.replace("unreached", "other"), "has no row that begins with"),
    ],
)
def test_page_without_figures_is_an_error(page: str, problem: str) -> None:
    with pytest.raises(SystemExit, match=problem):
        slowdowns(page)


def test_picture_names_both_debuggers_with_their_figures() -> None:
    picture = chart([Slowdown("fib", 1.01, 143.35)])
    assert "dapkit 1.01" in picture
    assert "debugpy 143.35" in picture
