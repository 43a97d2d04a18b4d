"""Results as text for agents and people: the words of the contract first, dapkit's additions after them."""

from dapkit.agent.text import breakpoints, diagnostics, history, probe, program, run, session, values
from dapkit.agent.text.escaping import render

__all__ = ["breakpoints", "diagnostics", "history", "probe", "program", "render", "run", "session", "values"]
