import pytest

from raw_peer import RawPeer, raw_adapter, raw_client


@pytest.fixture
def client() -> RawPeer:
    """Return a raw client, to whom the adapter has answered initialize."""
    return raw_client()


@pytest.fixture
def adapter() -> RawPeer:
    """Return a raw adapter, which has answered initialize."""
    return raw_adapter()
