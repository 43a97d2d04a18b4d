"""Exceptions by which programs give a library commands, and which are not errors: `userUnhandled` ignores them.

Named by their class or by one that it is derived from. The `rules` of a launch configuration come first:

    {"exception": "shop.errors.Redirect", "include": false}    is not an error
    {"exception": "click.exceptions.*", "include": true}       is one
"""

from types import CodeType
from typing import Final

from ..interpreter.safe_types import class_name, mro
from ..sources.own_code_rules import ExceptionRule

_CLASSES: Final = {
    "unittest.case": "SkipTest _ShouldStop",
    "hypothesis.errors": "UnsatisfiedAssumption StopTest",
    "bdb": "BdbQuit",
    "werkzeug.exceptions": "HTTPException",
    "starlette.exceptions": "HTTPException",
    "starlette.websockets": "WebSocketDisconnect",
    "django.http.response": "Http404",
    "django.core.exceptions": "PermissionDenied",
    "rest_framework.exceptions": "APIException",
    "aiohttp.web_exceptions": "HTTPException",
    "tornado.web": "Finish HTTPError",
    "tornado.gen": "Return",
    "falcon.http_error": "HTTPError",
    "falcon.http_status": "HTTPStatus",
    "bottle": "HTTPResponse",
    "cherrypy._cperror": "HTTPRedirect HTTPError",
    "litestar.exceptions.http_exceptions": "HTTPException",
    "sanic.exceptions": "SanicException",
    "webob.exc": "HTTPException",
    "pyramid.httpexceptions": "HTTPException",
    "click.exceptions": "Exit Abort ClickException",
    "typer": "Exit Abort",
    "asyncio.exceptions": "CancelledError",
    "concurrent.futures._base": "CancelledError",
    "trio": "Cancelled",
    "greenlet": "GreenletExit",
    "celery.exceptions": "TaskPredicate",
    "scrapy.exceptions": "CloseSpider DropItem IgnoreRequest",
    "airflow.exceptions": "AirflowSkipException AirflowRescheduleException",
}
_NAMES: Final = frozenset(f"{module}.{name}" for module, names in _CLASSES.items() for name in names.split())
_MODULES: Final = ("_pytest.outcomes.", "streamlit.runtime.scriptrunner")
"""First words of the names of whole families of them."""
_ERRORS: Final = ("Failed",)
"""Exceptions of these modules that do not belong to the family: `pytest.fail` is a failure.

Pytest makes its classes seem built-in.
"""

_TRACEBACK_MAKER: Final = ("__traceback_maker",)
"""The names in the code that tblib runs, once for each frame of a traceback that it makes again from a pickle."""


def makes_traceback(code: CodeType) -> bool:
    """Return whether some code is run only for the traceback of its exception, under the name of a user's file."""
    return code.co_names == _TRACEBACK_MAKER


def ends_greenlet(exception: BaseException) -> bool:
    """Return whether an exception only ends the greenlet that it leaves, without a message."""
    return any(class_name(kind) == "greenlet.GreenletExit" for kind in mro(exception))


def is_control_flow(exception: BaseException, rules: list[ExceptionRule]) -> bool:
    """Return whether an exception is not an error."""
    names = [class_name(kind) for kind in mro(exception)]
    for rule in rules:
        if any(map(rule.fits, names)):
            return not rule.include
    for name in names:  # from the most special class
        if name in _ERRORS:
            return False
        if name in _NAMES or name.startswith(_MODULES):
            return True
    return False
