"""Properties checked by Hypothesis, one of which does not hold."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

s_calls = {"holds": 0, "fails": 0}
QUIET = settings(
    max_examples=40, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


@QUIET
@given(st.lists(st.integers()))
def holds(numbers):
    s_calls["holds"] += 1
    assert sorted(sorted(numbers)) == sorted(numbers)


@QUIET
@given(st.integers(0, 1000))
def fails(number):
    s_calls["fails"] += 1
    assert number < 100


holds()
try:
    fails()
    s_failed = ""
except AssertionError as error:
    s_failed = type(error).__name__
s_tried = s_calls["holds"] > 0
print(s_failed, s_tried)
