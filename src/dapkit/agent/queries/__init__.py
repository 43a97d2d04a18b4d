"""What diagnostics asks of the hub; importing this fills `registry.QUERIES`."""

from dapkit.agent.queries import heap, record, wire

__all__ = ["heap", "record", "wire"]
