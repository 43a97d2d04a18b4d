"""Run the adapter: python examples/mock_adapter."""

from mock_adapter import MockAdapter

from dapkit.adapter import run

run(MockAdapter)
