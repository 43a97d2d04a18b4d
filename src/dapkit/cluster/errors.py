"""Errors of jobs.

DapkitError
└── JobError             the text states the problem, and a way out
    ├── UnknownTarget    there is no such job
    └── WrongSet         a set of members cannot be read
"""

from dapkit.protocol import DapkitError


class JobError(DapkitError):
    """A job cannot be looked at, or not in this way."""


class UnknownTarget(JobError):  # noqa: N818 - the sentence reads right where it is raised
    """A text names no job, or a job without processes."""


class WrongSet(JobError):  # noqa: N818 - as above
    """A text does not describe a set of members."""
