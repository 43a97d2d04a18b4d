"""Read the reports in the format of JUnit that test runs leave in build/reports."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET


def testcases(report: Path) -> Iterator[ET.Element]:
    """Return the tests of a report."""
    return ET.parse(report).iter("testcase")  # noqa: S314 - our own test runners wrote it


def outcome(case: ET.Element) -> str:
    """Return whether a test passed, failed, or was skipped."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"
