"""The rank of a process, as the launcher of its job has written it into the environment.

Standard library only: `dapkit.cluster.run` reads its own environment before the program starts.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_NUMBER: Final = re.compile(r"\d+")


class RankVariables(NamedTuple):
    """Names of the variables of one launcher; the first that has a number counts."""

    launcher: str
    rank: str
    size: str
    local_rank: str = ""


_LAUNCHERS: Final = (
    RankVariables("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"),
    RankVariables("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    RankVariables("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    RankVariables("PMIx", "PMIX_RANK", ""),
    RankVariables("Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
    RankVariables("Kubernetes", "JOB_COMPLETION_INDEX", ""),
)
"""The more special launcher first: Slurm may start MPI or torchrun, not the reverse."""


class Rank(NamedTuple):
    """A process's place in its job.

    Attributes:
        launcher: that has numbered it.
        rank: from 0.
        size: how many processes the job has; 0 if the launcher does not say.
        local_rank: its number on this machine; -1 if the launcher does not say.
        restarts: how often the job was started again before (torchrun's elastic restarts).

    """

    launcher: str
    rank: int
    size: int
    local_rank: int
    restarts: int


def rank_in(environment: Mapping[str, str]) -> Rank | None:
    """Return the rank that a launcher has given a process, None if there is no variable of a launcher."""
    for names in _LAUNCHERS:
        rank = _number(environment, names.rank)
        if rank is None:
            continue
        size = _number(environment, names.size)
        local_rank = _number(environment, names.local_rank)
        restarts = _number(environment, "TORCHELASTIC_RESTART_COUNT")
        return Rank(names.launcher, rank, size or 0, -1 if local_rank is None else local_rank, restarts or 0)
    return None


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "") if name else ""
    return int(text) if _NUMBER.fullmatch(text) else None
