"""What a machine may lack."""

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test with the reason; with CI=true, where everything has to be there, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; with CI=true nothing that is missing is skipped", pytrace=False)
    pytest.skip(reason)
