"""Which presenter a value has, by the qualified names of its classes.

Nothing is imported for that: the names are those that classes of a library have once the program has imported it.
A value of any other class costs a look at the names of its classes, once for each request.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from ...interpreter.safe_types import class_name, mro, names_in_class, namespace, once_per_class, simple_name
from .presenter import Presenter
from .project import PROJECT

_BUILT_IN: Final[Mapping[str, tuple[str, ...]]] = {
    "ndarray": ("numpy",),
    "DataFrame": ("pandas",),
    "Series": ("pandas",),
    "Index": ("pandas",),
    "Row": ("sqlalchemy.engine.row",),
    "BaseModel": ("pydantic.main", "pydantic.v1.main"),
    "Model": ("django.db.models.base",),
    "QuerySet": ("django.db.models.query",),
}
"""Where to find the classes that have a presenter of ours, by their names."""
_MARKED: Final = {"_sa_class_manager": "Mapped"}
"""Attributes that a library adds to classes of the program, and the names of their presenters."""


def _presenters() -> Mapping[str, type[Presenter]]:
    """Return the classes of presenters of ours; only now are they loaded."""
    from .django_models import ModelPresenter, QuerySetPresenter
    from .numpy_arrays import ArrayPresenter
    from .pandas_tables import FramePresenter, IndexPresenter, SeriesPresenter
    from .pydantic_models import PydanticPresenter
    from .sqlalchemy_rows import MappedPresenter, RowPresenter

    return {
        "ndarray": ArrayPresenter,
        "DataFrame": FramePresenter,
        "Series": SeriesPresenter,
        "Index": IndexPresenter,
        "Row": RowPresenter,
        "BaseModel": PydanticPresenter,
        "Model": ModelPresenter,
        "QuerySet": QuerySetPresenter,
        "Mapped": MappedPresenter,
    }


@once_per_class
def presenter_of(value: object) -> Presenter | None:
    """Return the presenter for values of a class, None for those that are shown like any other."""
    functions = PROJECT.functions()
    for base in mro(value):
        if functions and (function := _given(base, functions)) is not None:
            from .function_presenters import GivenPresenter

            return GivenPresenter(base, function)
        if kind := _built_in(base):
            return _presenters()[kind](base)
    return None


def _given(base: type, functions: Mapping[str, Callable[[Any], object]]) -> Callable[[Any], object] | None:
    presenter_function = functions.get(class_name(base))
    if presenter_function is not None:
        return presenter_function
    return next((function for name, function in functions.items() if _is_called(base, name)), None)


def _is_called(base: type, name: str) -> bool:
    """Say whether a class is found under a name that is not its full name, as a package's `__init__` may give one."""
    module, _, simple = name.rpartition(".")
    return simple == simple_name(base) and namespace(sys.modules.get(module)).get(simple) is base


def _built_in(base: type) -> str:
    name = simple_name(base)
    for module in _BUILT_IN.get(name, ()):
        if namespace(sys.modules.get(module)).get(name) is base:
            return name
    return next((kind for mark, kind in _MARKED.items() if mark in names_in_class(base)), "")
