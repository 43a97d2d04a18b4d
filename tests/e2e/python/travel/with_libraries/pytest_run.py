"""A run of pytest: fixtures, parameters, captured output, temporary folders, and tests that fail."""

import os
import random
import sys
import time

import pytest


def price(items, discount=0):
    total = 0
    for name, cost in items:
        total += cost
    return total * (100 - discount) // 100


@pytest.fixture
def items():
    made = [("apple", 3), ("pear", 5)]
    yield made
    made.clear()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shelf")
    for number in range(3):
        (folder / f"book {number}").write_text("page\n" * number)
    return folder


@pytest.mark.parametrize("discount", [0, 10, 50])
def test_discount(items, discount):
    assert price(items, discount) == 8 - 8 * discount // 100


def test_books_have_pages(shelf):
    pages = {}
    for book in sorted(shelf.iterdir()):
        pages[book.name] = len(book.read_text().splitlines())
    assert pages == {"book 0": 0, "book 1": 1, "book 2": 2}


def test_output(capsys):
    print("to be captured")
    os.write(2, b"and this by the descriptor\n")
    assert capsys.readouterr().out == "to be captured\n"


def test_environment(monkeypatch):
    monkeypatch.setenv("SHOP", "open")
    monkeypatch.setattr(time, "sleep", lambda seconds: s_slept.append(seconds))
    time.sleep(3)
    assert os.environ["SHOP"] == "open"


def test_that_fails(items):
    basket = items + [("plum", random.randrange(10))]
    assert price(basket) == 8, "so much"


def test_that_raises():
    with pytest.raises(ValueError, match="invalid literal"):
        int("x")
    raise LookupError("of no use")


@pytest.mark.skip(reason="not today")
def test_skipped():
    raise AssertionError


s_slept = []


class Reports:
    def pytest_runtest_logreport(self, report):
        s_reports.append((report.nodeid, report.when, report.outcome, report.duration, str(report.longrepr)))


if __name__ == "__main__":
    s_reports = []
    sys.dont_write_bytecode = True
    s_code = pytest.main([__file__, "-q", "-p", "no:cacheprovider"], plugins=[Reports()])
    s_failed = [name for name, _, outcome, _, _ in s_reports if outcome == "failed"]
    pass
