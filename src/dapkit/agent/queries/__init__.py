"""Queries that diagnostics sends to the hub; importing this package fills `registry.QUERIES`."""

from dapkit.agent.queries import heap, record, wire

__all__ = ["heap", "record", "wire"]
