"""The texts of all results, as the contract of the tool has them; and what ours adds after them."""

import os
from pathlib import Path

import pytest

from dapkit.agent.actions import in_order
from dapkit.agent.text import render
from unit.agent.samples import SAMPLES

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_is_the_one_in_its_golden_file(name: str) -> None:
    text = render(SAMPLES[name])
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("DAPKIT_WRITE_GOLDEN") == "1":  # then read the difference
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_there_is_no_golden_file_too_many() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(SAMPLES)


def test_every_result_of_an_action_has_a_sample() -> None:
    kinds = {type(sample) for sample in SAMPLES.values()}
    assert {kind for action in in_order().values() for kind in action.results} <= kinds
