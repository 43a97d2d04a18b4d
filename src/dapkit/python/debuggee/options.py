"""The options of a session, from the arguments of `launch` or `attach`.

The adapter has checked their types; a missing option has its default.
"""

from typing import Final

from .connection.framing import Json
from .connection.request import IncomingRequest, flag, number, text
from .interpreter import limits
from .interpreter.errors import RequestRefused
from .sources.auto_reload import ReloadSettings

TEMPLATES: Final = ("jinja", "django")
"""Keys that ask for templates as sources."""


class RecordingOptions:
    """The source of a replay.

    Attributes:
        folder: with the files `notes` and `collections`.
        program: the file to read the program's text from; empty for the program's own.
        began: when it began, in microseconds since 1970.
        streams: the standard streams that it had.
        signals: which signals were ignored and blocked at its start.
        hides_seed: whether the program does not find the variable PYTHONHASHSEED.
        zone: the time zone to use; empty for this machine's.

    """

    def __init__(self, values: Json) -> None:
        streams, signals, began = values.get("streams"), values.get("signals"), values.get("began")
        self.folder = str(values.get("folder"))
        self.program = str(values.get("program") or "")
        self.began = began if isinstance(began, int) else 0
        self.streams: Json = streams if isinstance(streams, dict) else {}
        self.signals: Json = signals if isinstance(signals, dict) else {}
        self.hides_seed = bool(values.get("hidesSeed"))
        self.zone = str(values.get("zone") or "")


class TravelOptions:
    """How the program is copied for time travel.

    Attributes:
        socket: path of the unix socket that copies connect to.
        token: that they show there.
        interval: nanoseconds between copies, at least.
        ends_with_threads: whether its history ends when it begins a second thread.
        may_branch: whether a process that shows its past may take its place.
        recording: the recording that the program replays; None for a live program.

    """

    def __init__(self, values: Json) -> None:
        self.socket = str(values.get("socket"))
        self.token = str(values.get("token"))
        interval = values.get("interval")
        self.interval = interval if isinstance(interval, int) else 0
        self.ends_with_threads = bool(values.get("endsWithThreads"))
        self.may_branch = bool(values.get("mayBranch"))
        recording = values.get("recording")
        self.recording = RecordingOptions(recording) if isinstance(recording, dict) else None


class PastStop:
    """The stop at which a replay process begins: its reason, and the rest of the event."""

    def __init__(self, values: Json) -> None:
        details = values.get("details")
        self.reason = str(values.get("reason"))
        self.details: Json = details if isinstance(details, dict) else {}


class EngineOptions:
    """The options of one session.

    Attributes:
        debugs: False for a program that is only to run: nothing stops it, and nothing is watched.
        stop_on_entry: whether to stop before the first line.
        just_my_code: whether stepping and exceptions pass over library code.
        stop_all_threads: whether all threads stop with the one that hits something.
        rules: which code counts as library code, `{"path" or "module": pattern, "include": whether it is the
            program's}`.
        show_return_value: whether variables show the results of functions.
        evaluate_seconds: how long an input of the console may run.
        redirect_output: whether to report the program's output to the client.
        auto_reload: how to load saved files; None for not at all.
        marked_pipes: device and inode of the adapter's pipes for stdout and stderr, which are marked where log messages
            belong; none in a terminal.
        output_memory: path, device and inode of memory in which the adapter notes how much it has read from them.
        step_resumes_all: whether the other threads run while one is stepped.
        gui_event_loop: the event loop that serves windows while the main thread is stopped; empty for none.
        children: path of the socket where child processes come to; "" for not at all.
        ends_with_link: whether the program ends if the link is lost, as one that the debugger has launched does anyway.
        closes_listener: whether the program listens no more once this client has left, unless it is suspended then.
        announces_children: whether it is only remarked on that there is one.
        travel: where checkpoints of the program come to, if it is to travel in time; None for no time travel.
        past_stop: at which a replay process begins; None if it is to continue.
        past_end: the clock where such a process ends; 0 for where the live program is stopped.
        exception_frames: how many frames of an exception's stack to show at most; 0 for all.
        templates: the kinds of templates that are sources, by their keys.

    """

    def __init__(self) -> None:
        self.debugs = True
        self.stop_on_entry = False
        self.just_my_code = True
        self.stop_all_threads = True
        self.rules: list[Json] = []
        self.show_return_value = True
        self.evaluate_seconds: float = limits.REPL_SECONDS
        self.redirect_output = False
        self.marked_pipes: list[tuple[int, int]] = []
        self.output_memory: tuple[str, tuple[int, int]] | None = None
        self.auto_reload: ReloadSettings | None = None
        self.step_resumes_all = True
        self.exception_frames = 0
        self.templates: frozenset[str] = frozenset()
        self.gui_event_loop = ""
        self.children = ""
        self.announces_children = False
        self.ends_with_link = False
        self.closes_listener = False
        self.travel: TravelOptions | None = None
        self.past_stop: PastStop | None = None
        self.past_end = 0

    def read(self, request: IncomingRequest) -> None:
        """Take them from a request.

        Raises:
            RequestRefused: one is of a wrong kind.

        """
        self.debugs = not flag(request, "noDebug", default=False)
        self.stop_on_entry = flag(request, "stopOnEntry", default=False)
        self.just_my_code = flag(request, "justMyCode", default=True)
        self.stop_all_threads = flag(request, "stopAllThreads", default=True)
        self.show_return_value = flag(request, "showReturnValue", default=True)
        self.redirect_output = flag(request, "redirectOutput", default=False)
        pipes = request.arguments.get("marksOutput")
        self.marked_pipes = [(device, inode) for device, inode in pipes] if isinstance(pipes, list) else []
        memory = request.arguments.get("outputMemory")
        if isinstance(memory, list):
            path, device, inode = memory
            self.output_memory = str(path), (device, inode)
        seconds = request.arguments.get("evaluateTimeout")
        if seconds is not None:
            if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
                raise RequestRefused(f"evaluateTimeout is {seconds!r:.200}, expected seconds, 0 for no limit")
            self.evaluate_seconds = float(seconds) or float("inf")
        rules = request.arguments.get("rules") or []
        if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
            raise RequestRefused(f"rules is {rules!r:.200}, expected a list of objects")
        self.rules = rules
        reload = request.arguments.get("autoReload")
        if isinstance(reload, dict) and reload.get("enable"):
            self.auto_reload = ReloadSettings(reload)
        self.step_resumes_all = flag(request, "steppingResumesAllThreads", default=True)
        self.exception_frames = number(request, "maxExceptionStackFrames")
        self.templates = frozenset(kind for kind in TEMPLATES if flag(request, kind, default=False))
        loop = request.arguments.get("guiEventLoop") or ""
        if not isinstance(loop, str):
            raise RequestRefused(f"guiEventLoop is {loop!r:.200}, expected a text")
        self.gui_event_loop = loop
        self.children = text(request, "children") if "children" in request.arguments else ""
        self.ends_with_link = flag(request, "endsWithLink", default=False)
        self.closes_listener = flag(request, "closesListener", default=False)
        self.announces_children = flag(request, "announcesChildren", default=False)
        travel = request.arguments.get("travel")
        self.travel = TravelOptions(travel) if isinstance(travel, dict) else None
        stop = request.arguments.get("pastStop")
        self.past_stop = PastStop(stop) if isinstance(stop, dict) else None
        self.past_end = number(request, "pastEnd")
