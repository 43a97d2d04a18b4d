"""Results of actions on jobs, beside those that `dapkit.cluster` has."""

from dapkit.protocol import ProtocolObject


class JobReleased(ProtocolObject, frozen=True, kw_only=True):
    """The members of a job were let go.

    Attributes:
        target: the job, as the user has named it.
        members: how many were connected.

    """

    target: str
    members: int
