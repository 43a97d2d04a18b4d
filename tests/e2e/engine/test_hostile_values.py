"""Values whose classes redefine everything: what a look at them may call, and what it does when that never ends."""

from contextlib import suppress
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = [pytest.mark.row("scopes, variables"), pytest.mark.each_python]

SPIES = """
    import collections, functools, sys, types
    called = {}
    def note(what):
        caller = sys._getframe(2).f_code
        if "/debuggee/" in caller.co_filename and not caller.co_filename.endswith("guard.py"):
            called[f"{what} from {caller.co_filename.rpartition('/')[2]} {caller.co_qualname}"] = None
    def spy(kind, name, answer):
        def method(self, *given, **named):
            note(f"{kind}.{name}")
            return answer(self, *given, **named)
        return method
    def spying(kind, name, value):
        def get(self):
            note(f"{kind}.{name}")
            return value
        return property(get)
    def no_attribute(self, name): raise AttributeError(name)
    KEPT = ("__new__ __init__ __init_subclass__ __class__ __subclasshook__ __dict__ __doc__ __del__ __prepare__ mro "
        "__subclasses__ __abstractmethods__ __annotations__ __annotate__ __type_params__").split()
    def spies(kind, base):
        methods = {name: getattr(base, name) for name in dir(base) if name not in KEPT}
        own = {name: spy(kind, name, method) for name, method in methods.items() if callable(method)}
        own |= {
            "__len__": spy(kind, "__len__", getattr(base, "__len__", lambda self: 2)),
            "__iter__": spy(kind, "__iter__", getattr(base, "__iter__", lambda self: iter(()))),
            "__bool__": spy(kind, "__bool__", lambda self: False),
            "__getattr__": spy(kind, "__getattr__", no_attribute),
            "__contains__": spy(kind, "__contains__", lambda self, item: False),
            "__str__": spy(kind, "__str__", lambda self: "text"),
            "__class__": spying(kind, "__class__", object),
            "__dict__": spying(kind, "__dict__", {}),
        }
        own.pop("__base__", None), own.pop("__text_signature__", None)
        return own
    Meta = type("Meta", (type,), spies("meta", type) | {
        name: spying("meta", name, ()) for name in ("__name__", "__module__", "__mro__", "__bases__", "__flags__")})
    def made(base):
        name = "Spied" + base.__name__
        own = spies(name, base)
        for extra in ("__call__", "__get__", "__set__", "__index__", "__buffer__", "__format__", "__fspath__"):
            own[extra] = spy(name, extra, lambda self, *given: None)
        own["computed"] = spying(name, "computed", 1)
        return Meta(name, (base,), own)
    Thing, Number, Text, Bytes, List, Tuple, Dict, Set, Deque, Ordered, Error, Group, Module, Buffer = map(made, (
        object, int, str, bytes, list, tuple, dict, set, collections.deque, collections.OrderedDict,
        ValueError, ExceptionGroup, types.ModuleType, bytearray))
    class Holder: pass
    def scene(thing):
        number, text, bytes_, buffer = Number("1"), Text("1"), Bytes(b"1"), Buffer(b"1")
        list_, tuple_, dict_ = List([thing, number]), Tuple([thing]), Dict({"a": thing, text: number, number: text})
        set_, deque, ordered, module = Set([1]), Deque([thing]), Ordered(a=thing), Module("spied")
        plain = [[thing], (Thing, number), {text: thing, "k": number}, {Number("7")}]
        of_number, by_thing = {number: 1}, {thing: 1}
        kind, metaclass, method = Thing, Meta, types.MethodType(Thing(), thing)
        partial, view = functools.partial(thing, text), types.MappingProxyType(dict_)
        holder = Holder(); holder.attribute, holder.text = thing, text
        holder.__dict__["no name"] = thing
        error = Error(thing, text); error.__cause__, error.__notes__ = Group("g", [Error(text)]), [text, thing]
        def result(given): return given
        return result(thing)    # a breakpoint
    def fail(thing): raise Error(thing)
    sys.modules["spied"], sys.modules["spied.module"] = Thing(), Module("spied.module")
    scene(Thing())
    try: fail(Thing())
    except Exception: pass
    print("end", file=sys.stderr)
"""


def line_of(program: str, text: str) -> int:
    return next(n for n, line in enumerate(program.strip().splitlines(), 1) if text in line)


def everything_below(peer: EngineClient, reference: int, depth: int) -> None:
    for row in peer.rows(reference):
        if depth and not row.get("presentationHint", {}).get("lazy"):
            everything_below(peer, row["variablesReference"], depth - 1) if row["variablesReference"] else None


def tried(peer: EngineClient, command: str, **arguments: object) -> Message:
    """Ask for something that may be refused, but not because of an error of the engine: the peer notes those."""
    try:
        return peer.ask(command, **arguments) or {}
    except Refused:
        return {}


def test_look_calls_nothing_of_the_program_but_what_it_shows(start: Start) -> None:
    peer = start(SPIES)
    peer.configure(lines=[line_of(SPIES, "# a breakpoint")])
    peer.stopped("breakpoint")
    names = {"parameters": True, "parameterTypes": True, "parameterValues": True, "module": True}
    frame = peer.ask("stackTrace", threadId=1, format=names)["stackFrames"][0]["id"]
    variables, outside = (scope["variablesReference"] for scope in peer.ask("scopes", frameId=frame)["scopes"])
    everything_below(peer, variables, 2)
    everything_below(peer, outside, 0)
    shown = {row["name"]: row for row in peer.rows(variables)}
    assert "__main__.Spiedobject object at" in shown["thing"]["value"]
    assert shown["dict_"]["type"] == "__main__.Spieddict"
    for name, row in shown.items():
        for context in ("hover", "watch", "repl", "clipboard"):
            tried(peer, "evaluate", expression=name, frameId=frame, context=context)
        for more in (".computed", ".__class__", "[0]", "['a']"):
            tried(peer, "evaluate", expression=name + more, frameId=frame, context="hover")
        for typed in (f"{name}.", f"{name}[", f"{name}['"):
            tried(peer, "completions", text=typed, column=len(typed) + 1, frameId=frame)
        for more in ("", ".computed", ".attribute", "[0]", "['a']"):
            tried(peer, "dataBreakpointInfo", name=name + more, frameId=frame)
        tried(peer, "dataBreakpointInfo", name=name, variablesReference=variables, bytes=1)
        if row["variablesReference"]:
            for inner in peer.rows(row["variablesReference"])[:3]:
                tried(peer, "dataBreakpointInfo", name=inner["name"], variablesReference=row["variablesReference"])
    tried(peer, "setVariable", variablesReference=variables, name="number", value="thing")
    tried(peer, "setExpression", expression="text", value="thing", frameId=frame)
    for command in ("modules", "loadedSources", "threads"):
        peer.ask(command)
    tried(peer, "stepInTargets", frameId=frame)
    peer.step()
    frame = peer.stack()[0]["id"]
    assert any(name.startswith("(return) ") for name in peer.locals())
    everything_below(peer, peer.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"], 2)
    peer.ask("setExceptionBreakpoints", filters=["raised"])
    peer.go()
    peer.stopped("exception")
    details = peer.ask("exceptionInfo", threadId=1)
    assert (details["exceptionId"], details["details"]["message"]) == ("__main__.SpiedValueError", "text")
    peer.stack()
    assert peer.value("sorted(called)", context="repl") == "[]"
    peer.go()
    assert peer.finish()[0] == 0


AROUND = """
    import asyncio, linecache, sys, threading, types
    called = {}
    def note(what):
        caller = sys._getframe(2).f_code if sys._getframe(1).f_back else None
        if caller and "/debuggee/" in caller.co_filename and not caller.co_filename.endswith("guard.py"):
            called[f"{what} from {caller.co_filename.rpartition('/')[2]} {caller.co_qualname}"] = None
    class Spy:
        def __getattribute__(self, name):
            note(f"{object.__getattribute__(self, '__class__')}.{name}")
            return super().__getattribute__(name)
        def __bool__(self): note("__bool__"); return True
        def __fspath__(self): note("__fspath__"); return "/"
        def __call__(self, *given): pass
    class Task(Spy, asyncio.tasks._PyTask):
        def done(self): note("done"); return super().done()
    class NativeTask(Spy, asyncio.Task):
        def get_coro(self): note("get_coro"); return super().get_coro()
        def get_name(self): note("get_name"); return super().get_name()
    class Waiting(Spy):
        def __init__(self, future): self.steps = future.__await__()
        def __iter__(self): return self
        def __next__(self): return next(self.steps)
    class Event:
        def __init__(self, futures): self.futures = futures
        def __await__(self):
            self.futures.append(asyncio.get_running_loop().create_future())
            self.futures[-1].add_done_callback(Spy())
            return Waiting(self.futures[-1])
    async def wait(futures): await Event(futures)
    async def main():
        loop, futures = asyncio.get_running_loop(), []
        tasks = Task(wait(futures), loop=loop, name="one"), NativeTask(wait(futures), loop=loop, name="two")
        for task in tasks: task.add_done_callback(Spy())
        while len(futures) < 2: await asyncio.sleep(0)
        for future in futures: future.set_result(None)    # among tasks
        for task in tasks: await task
    class Names(Spy, dict):
        for name in "get", "items", "values", "keys", "__getitem__", "__contains__", "__iter__", "copy":
            locals()[name] = lambda self, *given, name=name: note(name) or getattr(dict, name)(self, *given)
    class Thread(Spy, threading.Thread): pass
    class Module(Spy, types.ModuleType): pass
    sys.modules |= {"strange": Module("strange"), "strange.value": Spy()}
    for name in "__file__", "__version__", "__package__", "__loader__", "__spec__", "__path__":
        sys.modules["strange"].__dict__[name] = Spy()
    sys.path += [Spy(), 5]
    linecache.cache["<string>"] = Spy()
    code = "def work(given):\\n    return given\\nwork(1)"
    thread = Thread(target=exec, args=(code, Names(__name__=Spy(), __file__=Spy())))
    thread.start(); thread.join()
    asyncio.run(main())
    print("end")
"""


def test_look_at_tasks_modules_and_globals_calls_nothing_of_the_program(start: Start) -> None:
    peer = start(AROUND)
    peer.configure(lines=[line_of(AROUND, "# among tasks")])
    peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "work"}])
    names = {"parameters": True, "parameterTypes": True, "parameterValues": True, "module": True}
    for reason, above in (("function breakpoint", "work(int = 1)"), ("breakpoint", "__main__.main()")):
        thread = peer.stopped(reason)["threadId"]
        frames = peer.ask("stackTrace", threadId=thread, format=names)["stackFrames"]
        assert frames[0]["name"] == above
        for scope in peer.ask("scopes", frameId=frames[0]["id"])["scopes"]:
            peer.rows(scope["variablesReference"])
        for typed in ("import stra", "from strange.", "from strange import ", "asyn", "Names."):
            peer.ask("completions", text=typed, column=len(typed) + 1, frameId=frames[0]["id"])
        for command in ("modules", "loadedSources"):
            peer.ask(command)
        shown = {row["name"]: row["id"] for row in peer.ask("threads")["threads"]}
        for number in shown.values():
            peer.stack(number)
        if reason == "breakpoint":
            assert {"one (suspended: wait)", "two (suspended: wait)"} <= set(shown)
            assert peer.value("sorted(called)", context="repl") == "[]"
        peer.go(thread)
    assert peer.finish()[:2] == (0, "end\n")


LATE = """
    import os
    class Native:
        def __repr__(self):     # C waits for it again after each signal: it cannot be woken
            os.system("for i in $(seq 600); do if test -e go; then break; fi; sleep 0.1; done")
    class Forks:
        def __repr__(self):
            child = os.fork()
            if not child: os._exit(7)
            return str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    forks = Forks()
    def work():
        late = Native()
        return late
    work()
    print("end")
"""


def test_interruption_that_comes_late_leaves_the_streams_of_the_program_as_they_were(
    start: Start, tmp_path: Path
) -> None:
    peer = start(LATE)
    peer.configure(lines=[line_of(LATE, "return late")])
    peer.stopped("breakpoint")
    forked = peer.value("forks")  # a fork may take longer than a value may; `end` comes once all the same
    assert forked in ("7", "<repr of __main__.Forks timed out after 0.25 s>")
    assert peer.locals()["late"]["value"] == "<repr of __main__.Native timed out after 0.25 s>"
    (tmp_path / "go").touch()
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


ENDLESS = """
    def endless(self=None):
        while True:
            try: self
            except BaseException: pass
    def spin(self=None):
        while True: pass
    class Stubborn:
        __repr__ = endless
    class Wordy(Exception):
        __str__ = spin
    class Prepared(type):
        @classmethod
        def __prepare__(cls, name, bases): return Names()
        def __new__(cls, name, bases, names): return super().__new__(cls, name, bases, dict(names.held))
    class Names:
        def __init__(self): self.held = {"first": 1}
        def __getitem__(self, name): return self.held[name]
        def __setitem__(self, name, value): self.held[name] = value
        def keys(self): return self.held.keys()
        def items(self):
            if waiting: spin()
            return self.held.items()
    waiting = False
    def refuse(): raise Wordy
    class Odd(metaclass=Prepared):
        second = 2
        third = 3    # in a body
    def work():
        before, strange, after = 1, Stubborn(), [2]
        return before    # in a function
    work()
    print("end")
"""


def test_value_that_catches_interruptions_neither_hides_others_nor_holds_its_thread(start: Start) -> None:
    peer = start(ENDLESS)
    peer.configure(lines=[line_of(ENDLESS, "# in a function")])
    peer.stopped("breakpoint")
    rows = peer.locals()
    assert (rows["before"]["value"], rows["after"]["value"]) == ("1", "[2]")
    assert rows["strange"]["value"] == "<repr of __main__.Stubborn timed out after 0.25 s>"
    frame = peer.stack()[0]["id"]
    answer: Message = {"success": True}
    while answer["success"]:  # the value is answered if the cancellation comes later than its deadline
        slow = peer.send("evaluate", expression="strange", frameId=frame)
        peer.send("cancel", requestId=slow)
        answer = peer.answer(slow)
    assert answer["message"] == "cancelled"
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


def test_error_whose_text_never_ends_is_named_without_it(start: Start) -> None:
    peer = start(ENDLESS)
    peer.configure(lines=[line_of(ENDLESS, "# in a function")])
    peer.stopped("breakpoint")
    for context in ("watch", "repl"):
        with pytest.raises(Refused, match=r"Wordy: <str of __main__\.Wordy timed out after"):
            peer.value("refuse()", context=context)
    assert peer.value("before + 1") == "2"
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


def test_names_that_a_metaclass_prepares_are_read_under_a_deadline_and_never_for_a_hover(start: Start) -> None:
    peer = start(ENDLESS)
    peer.configure(lines=[line_of(ENDLESS, "# in a body")])
    peer.stopped("breakpoint")
    assert {"first", "second"} <= set(peer.locals())
    with pytest.raises(Refused, match="NameError: name 'second' is not defined"):
        peer.value("second", context="hover")
    assert peer.value("second") == "2"
    peer.value("globals().update(waiting=True)", context="repl")
    with pytest.raises(Refused, match="it took too long and was interrupted"):
        peer.locals()
    peer.value("globals().update(waiting=False)", context="repl")
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


def test_input_keeps_its_deadline_after_it_has_shown_a_value(start: Start) -> None:
    peer = start(ENDLESS)
    peer.configure(lines=[line_of(ENDLESS, "# in a function")], evaluateTimeout=0.5)
    peer.stopped("breakpoint")
    with pytest.raises(Refused, match=r"did not end within 0\.5 s"):
        peer.value("Odd\nspin()", context="repl")
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


def test_variables_that_are_kept_in_an_odd_mapping_are_shown_as_that_mapping(start: Start) -> None:
    peer = start(
        """
        class Odd:
            def __getitem__(self, name):
                return globals()[name]
            def __setitem__(self, name, value):
                pass
        try:
            exec("x = 1; Odd.absent", globals(), Odd())
        except AttributeError:
            print("end")
        """
    )
    peer.configure(filters=["raised"])
    peer.stopped("exception")
    rows = peer.locals()
    assert list(rows) == ["locals()"]
    assert rows["locals()"]["type"] == "__main__.Odd"
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


CATCHES = """
    import os
    def wait():
        while not os.path.exists("go"):
            try:
                while not os.path.exists("go"): pass
            except BaseException:
                pass
    class Catches:
        def __repr__(self):
            while not os.path.exists("go"):
                try:
                    while not os.path.exists("go"):
                        try:
                            wait()
                        except BaseException:
                            pass
                except BaseException:
                    pass
            return "at last"
    caught = Catches()
    x = 1
    y = 2
"""
"""Three times around, so that no interruption comes between two of its attempts."""


def test_a_thread_that_is_still_in_an_evaluation_says_so_when_it_is_to_continue(start: Start, tmp_path: Path) -> None:
    peer = start(CATCHES)
    peer.configure(lines=[21])
    peer.stopped("breakpoint")
    with suppress(Refused):  # which of its deadlines comes first is open
        peer.value("caught")
    peer.ask("next", threadId=1)
    said = "MainThread is still in an evaluation that cannot be interrupted, and continues once that has ended.\n"
    assert peer.event("output")["output"] == said
    (tmp_path / "go").touch()
    peer.stopped("step")
    assert peer.at() == ("<module>", 22)
    peer.go()
    assert [event for event in peer.events() if said in str(event)] == []
