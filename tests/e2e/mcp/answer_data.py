"""What a call says to get its answer as data."""

from typing import cast

from mcp.types import RequestParamsMeta

DETAILS = cast("RequestParamsMeta", {"dapkit/details": True})  # mypy does not know its extra items
