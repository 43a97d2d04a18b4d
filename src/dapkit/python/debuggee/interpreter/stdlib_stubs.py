"""The engine's replacements for modules whose second copy would be seen in the program: see `loader`.

`types` has types of objects that the interpreter has anyway, `typing` and `collections.abc` the names in annotations,
`collections` the parts that `dis` needs of it. `sys` is the program's, except values that cannot be its state.
"""

import builtins

from ..loader import program_sys, standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class ProgramSys:
    """The module `sys`: functions as they were when the engine was loaded, and all else as it is now."""

    def __init__(self) -> None:
        real = vars(program_sys)
        in_c: Any = type(len)
        names: dict[str, Any] = {
            name: value for name, value in real.items() if type(value) is in_c and not name.endswith("hook")
        }
        # The very dict that the interpreter looks modules up in, whatever the program puts in its place.
        names |= {"modules": program_sys.modules, "monitoring": _Monitoring(program_sys.monitoring)}
        vars(self).update(names)

    def __getattr__(self, name: str) -> "Any":  # noqa: ANN401 - anything
        return getattr(program_sys, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(program_sys, name, value)


class _Monitoring:
    """The namespace `sys.monitoring`, as it was when the engine was loaded."""

    def __init__(self, monitoring: object) -> None:
        vars(self).update(vars(monitoring))
        self.events = type(vars(monitoring)["events"])(**vars(vars(monitoring)["events"]))


class _Annotation:
    """Whatever an annotation names."""

    def __class_getitem__(cls, _arguments: object) -> "type[_Annotation]":
        return cls


def annotations() -> "dict[str, Any]":
    """Make the names of `typing` and of `collections.abc`."""
    names = {"TYPE_CHECKING": False, "NamedTuple": _Record, "Protocol": object, "cast": lambda _type, value: value}
    return names | {"__getattr__": lambda _name: _Annotation}


def types() -> "dict[str, Any]":
    """Make the names of `types`."""
    value = 0

    def generator() -> "Any":  # noqa: ANN401 - a generator
        yield value

    async def coroutine() -> None: ...

    async def asynchronous() -> "Any":  # noqa: ANN401 - an asynchronous generator
        yield

    function: Any = type(generator)
    coroutine_object = coroutine()
    coroutine_object.close()
    try:
        coroutine_object.send(None)
    except RuntimeError as error:
        traceback_type = type(error.__traceback__)
    newer = {"LazyImportType": standard("_types").LazyImportType} if "__lazy_import__" in vars(builtins) else {}
    return newer | {
        "AsyncGeneratorType": type(asynchronous()),
        "BuiltinFunctionType": type(len),
        "BuiltinMethodType": type(len),
        "CellType": type(generator.__closure__[0]),  # type: ignore[index]  # `value`
        "CodeType": type(generator.__code__),
        "CoroutineType": type(coroutine_object),
        "FrameType": type(program_sys._getframe()),
        "FunctionType": function,
        "GeneratorType": type(generator()),
        "GetSetDescriptorType": type(function.__code__),
        "MappingProxyType": type(type.__dict__),
        "MemberDescriptorType": type(function.__globals__),
        "MethodDescriptorType": type(str.join),
        "MethodType": type(_Annotation.__class_getitem__),
        "ModuleType": type(program_sys),
        "TracebackType": traceback_type,
        "WrapperDescriptorType": type(object.__init__),
    }


class _Record(tuple):  # type: ignore[type-arg]  # of anything
    """Stands for `typing.NamedTuple`, and for the classes of `collections.namedtuple`: the one subclass of `tuple`."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        names = tuple(cls.__annotations__)
        if names:
            cls._describe(names, {name: cls.__dict__[name] for name in names if name in cls.__dict__})

    @classmethod
    def _describe(cls, names: "Sequence[str]", defaults: "dict[str, Any]") -> None:
        count = len(names)

        def new(cls: "type[_Record]", *values: object, **more: object) -> "_Record":
            if len(values) < count:
                more = defaults | more
                values += tuple(more[name] for name in names[len(values) :])
            return tuple.__new__(cls, values)

        cls.__new__ = new  # type: ignore[method-assign,assignment]  # that is the point
        getter = standard("_operator").itemgetter
        for at, name in enumerate(names):
            setattr(cls, name, property(getter(at)))


def collections() -> "dict[str, Callable[..., type]]":
    """Make the names of `collections`."""
    return {"namedtuple": _namedtuple}


def _namedtuple(name: str, names: "Sequence[str]", *, defaults: "Sequence[Any]" = (), **_more: object) -> type[_Record]:
    record_type: type[_Record] = type(name, (_Record,), {"__slots__": ()})
    names = names.split() if isinstance(names, str) else names
    record_type._describe(names, dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)))
    return record_type
