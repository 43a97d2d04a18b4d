"""What diagnostics asks of the hub; importing this fills `registry.QUERIES`."""

from dapkit.agent.queries import record, wire

__all__ = ["record", "wire"]
