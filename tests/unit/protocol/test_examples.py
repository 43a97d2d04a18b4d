"""The examples in the docstrings run, and types follow as they say."""

import doctest
import importlib
from typing import assert_type

import pytest

from dapkit.protocol import (
    Arguments,
    Capabilities,
    InitializeRequestArguments,
    LaunchRequestArguments,
    StackTraceArguments,
    StackTraceBody,
)


@pytest.mark.parametrize("module", ["codec", "framing", "leniency", "utf16"])
def test_the_examples_of_the_protocol_run(module: str) -> None:
    tested = doctest.testmod(importlib.import_module(f"dapkit.protocol.{module}"))
    assert tested.attempted > 0
    assert tested.failed == 0


def test_the_examples_of_the_samples_run() -> None:
    assert doctest.testmod(importlib.import_module("dapkit.testing.samples")).failed == 0


def test_the_type_of_a_body_follows_from_the_type_of_the_arguments() -> None:
    """Checked by mypy, not by running."""

    def request[B](arguments: Arguments[B], answer: B) -> B:
        assert arguments.command
        return answer

    stack, launch = StackTraceArguments(thread_id=1), LaunchRequestArguments()
    assert_type(request(stack, StackTraceBody(stack_frames=[])), StackTraceBody)
    assert_type(request(InitializeRequestArguments(adapter_id="a"), Capabilities()), Capabilities)
    assert_type(request(launch, None), None)
