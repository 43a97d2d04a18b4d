"""Number types of the protocol, with the ranges that the schema gives them.

Wide ones end at 2**53 - 1, the last integer that JavaScript peers hold exactly.
"""

from typing import Annotated

from msgspec import Meta

type Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A signed number of 32 bits."""

type NonNegativeInt32 = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""From 0 to 2**31 - 1."""

type PositiveInt32 = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""From 1 to 2**31 - 1."""

type Uint32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""From 0 to 2**32 - 1."""

type Int53 = Annotated[int, Meta(ge=-(2**53 - 1), le=2**53 - 1)]
"""From -(2**53 - 1) to 2**53 - 1."""

type Uint53 = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""From 0 to 2**53 - 1."""

type Percentage = Annotated[float, Meta(ge=0, le=100)]
"""From 0 to 100."""
