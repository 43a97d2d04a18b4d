"""A program that renders templates, driven by a test."""

from pathlib import Path

from e2e.engine.engine_client import EngineClient, Message


class Rendering:
    """A program that renders templates, and where they are."""

    def __init__(self, peer: EngineClient, folder: Path) -> None:
        self.peer = peer
        self.folder = folder

    def path(self, name: str) -> str:
        return str(self.folder / "templates" / name)

    def place(self, name: str, *lines: int, **more: object) -> list[Message]:
        """Set breakpoints in a template."""
        source = {"path": self.path(name)}
        asked = [{"line": line, **more} for line in lines]
        return list(self.peer.ask("setBreakpoints", source=source, breakpoints=asked)["breakpoints"])

    def begin(self, **launch: object) -> None:
        """Launch the program, with the keys of its templates."""
        self.peer.ask("initialize", adapterID="test")
        self.peer.event("initialized")
        self.peer.ask("launch", **launch)

    def go(self) -> None:
        self.peer.ask("configurationDone")

    def at(self, thread: int = 1) -> tuple[str, int]:
        """Return the file and line where the thread is."""
        top = self.peer.stack(thread)[0]
        return top["source"].get("name"), top["line"]

    def step(self, command: str = "next") -> tuple[str, int]:
        self.peer.ask(command, threadId=1)
        self.peer.stopped("step")
        return self.at()

    def stop_in_request(self) -> int:
        """Go on to a breakpoint in the second line of a page that is rendered for a request; return the thread."""
        self.place("page.html", 2)
        self.peer.ask("setExceptionBreakpoints", filters=["userUnhandled"])
        self.go()
        thread: int = self.peer.stopped("breakpoint")["threadId"]
        assert self.at(thread) == ("page.html", 2)
        return thread

    def fail_request(self, thread: int) -> None:
        """Go on to an exception in the third line, and to the end: the client of the request is told of an error."""
        self.peer.go(thread)
        assert self.peer.stopped("exception")["threadId"] == thread
        assert self.at(thread) == ("page.html", 3)
        self.peer.go(thread)
        assert self.peer.finish()[1].strip() == "500"
