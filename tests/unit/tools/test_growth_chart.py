import pytest

from growth_chart import chart, steps

PAGE = """
| members | times | memory of the hub a member |
| --- | --- | --- |
| 8 | connected 0.00 s, stacks grouped 0.01 s | 10.8 kB |
| 10,000 | connected 1.32 s, stacks grouped 1.06 s | 4.1 kB |
"""


def test_times_are_those_of_each_step() -> None:
    assert steps(PAGE) == {"connected": [(8, 0.0), (10000, 1.32)], "stacks grouped": [(8, 0.01), (10000, 1.06)]}


def test_page_without_the_table_is_an_error() -> None:
    with pytest.raises(SystemExit, match="has no table"):
        steps("| members | times |")


def test_line_goes_up_with_the_time() -> None:
    picture = chart({"connected": [(10, 0.0), (100, 0.1), (1000, 10.0)]})
    assert '<polyline class="a" points="70.0,340.0 315.0,246.7 560.0,60.0"/>' in picture
    assert ">connected 10 s</text>" in picture
    assert ">1,000</text>" in picture
