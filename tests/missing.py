"""What a machine may lack."""

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test with the reason; with CI=true, where everything has to be there, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; with CI=true nothing that is missing is skipped", pytrace=False)
    pytest.skip(reason)


def require_root() -> None:
    """Skip the test unless it runs as root, who can be other users and give files away."""
    if os.geteuid() != 0:
        missing("only root can be another user, or give a file away")
