"""The members of variables that a line reads, as expressions that call nothing."""

import pytest

from dapkit.agent.reading.line_members import members_near, members_of_line


@pytest.mark.parametrize(
    ("line", "members"),
    [
        ('due = order["cost"] - order["bonus"]', ['order["cost"]', 'order["bonus"]']),
        ("self.rates.get(kind) + len(rows[i])", ["self.rates", "rows[i]"]),
        ("order.cost + shelves[order.shelf as usize]", ["order.cost", "order.shelf"]),
        ("if (order->limit != 1000) {", ["order->limit"]),
        ("return first.second.third()", ["first.second"]),
        ("x = 1.5 + run(a.b)[3]", ["a.b"]),
        ("assert table.RATES['tea'] == 5  # other.name", ["table.RATES['tea']"]),
        ("s.amounts[name] += amount", ["s.amounts[name]"]),
        ("std::cout << a.b;", ["a.b"]),
        ('"%d of a.b".format(c)', []),
        ("call(x)[0].y", []),
        ("x = y", []),
        ("", []),
    ],
)
def test_members_are_found(line: str, members: list[str]) -> None:
    assert members_of_line(line) == members


def test_lines_above_are_looked_at_where_the_line_reads_no_member() -> None:
    lines = ["first.a = 1", "", "", "if (order->limit != 1000) {", "    warn();", "    abort();"]
    assert members_near(lines, 6) == ["order->limit"]
    assert members_near(lines, 4) == ["order->limit"]
    assert members_near(lines, 3) == ["first.a"]
    assert members_near(["first.a = 1", "", "", "", "abort();"], 5) == []
    assert members_near([], 5) == []
