"""Results as text for agents and people: the words of the contract first, dapkit's additions after them."""

from dapkit.agent.text import (
    autopsy,
    breakpoints,
    history,
    job,
    probe,
    program,
    run,
    session,
    stacks,
    trace,
    values,
)
from dapkit.agent.text.escaping import render

__all__ = [
    "autopsy",
    "breakpoints",
    "history",
    "job",
    "probe",
    "program",
    "render",
    "run",
    "session",
    "stacks",
    "trace",
    "values",
]
