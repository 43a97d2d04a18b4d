"""The SDK: a debug adapter is a class with one coroutine per request that it supports."""

from dapkit.adapter.adapter import Adapter, Middleware, NoAttach, NoLaunch
from dapkit.adapter.after_the_end import answer_after_the_end
from dapkit.adapter.command_line import run
from dapkit.adapter.contribution import debugger_contribution, write_contribution
from dapkit.adapter.definition import custom_request, not_a_request
from dapkit.adapter.errors import AdapterError, DefinitionError, NotServed, NotSupported
from dapkit.adapter.handlers import ResponseBody
from dapkit.adapter.progress import Progress
from dapkit.adapter.references import References
from dapkit.adapter.requests import HANDLERS
from dapkit.adapter.servers import MakeAdapter, serve, serve_tcp, serve_unix
from dapkit.adapter.session import Proceed
from dapkit.endpoint import RequestFailed

__all__ = [
    "HANDLERS",
    "Adapter",
    "AdapterError",
    "DefinitionError",
    "MakeAdapter",
    "Middleware",
    "NoAttach",
    "NoLaunch",
    "NotServed",
    "NotSupported",
    "Proceed",
    "Progress",
    "References",
    "RequestFailed",
    "ResponseBody",
    "answer_after_the_end",
    "custom_request",
    "debugger_contribution",
    "not_a_request",
    "run",
    "serve",
    "serve_tcp",
    "serve_unix",
    "write_contribution",
]
