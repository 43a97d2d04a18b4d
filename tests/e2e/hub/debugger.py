"""A caller of a hub that debugs (`debugging_hub`), who knows what its hub has started."""

import time
from pathlib import Path

from dapkit.hub.client import HubClient
from e2e.hub.processes import family
from e2e.hub.programs import LINE, Debuggee


class Debugger:
    """A caller of one project.

    Attributes:
        hub_client: the way to the hub.
        project: the folder whose sessions are meant.
        hub: process of the hub.

    """

    def __init__(self, hub_client: HubClient, project: Path) -> None:
        self.hub_client = hub_client
        self.project = project
        hub = self.call("status")["pid"]
        assert isinstance(hub, int)
        self.hub = hub

    def call(self, name: str, *, session: str | None = None, **arguments: object) -> dict[str, object]:
        return self.hub_client.call(name, arguments, project=str(self.project), session=session, timeout=50)

    def launch(self, debuggee: Debuggee, *lines: int, session: str | None = None) -> None:
        self.call("launch", session=session, **debuggee.launch(*lines))

    def stop_at_the_line(self, debuggee: Debuggee) -> None:
        self.launch(debuggee, LINE)
        stopped = self.call("wait", timeout=40)
        assert (stopped["status"], stopped["line"]) == ("stopped", LINE)

    def wait_for_end(self, session: str, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while self.call("look", session=session)["status"] != "terminated":
            assert time.monotonic() < deadline
            self.call("wait", session=session, timeout=0.5)

    def started(self) -> dict[int, str]:
        return family(self.hub)

    def process_of(self, *words: str) -> int:
        """Return the last process that was started with all of these words."""
        fitting = [pid for pid, command in self.started().items() if all(word in command for word in words)]
        assert fitting, self.started()
        return max(fitting)
