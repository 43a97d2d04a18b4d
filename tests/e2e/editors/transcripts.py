"""What an editor and the adapter said to each other, as `--transcript` keeps it."""

import json
from pathlib import Path
from typing import Any

type Message = dict[str, Any]


class Transcript:
    """The messages of a session, in their order."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def messages(self) -> list[Message]:
        """All messages so far."""
        lines = self.file.read_text(encoding="utf-8").splitlines(keepends=True) if self.file.exists() else []
        return [json.loads(line)["message"] for line in lines if line.endswith("\n")]

    def requests(self, command: str) -> list[Message]:
        """Return the arguments of all requests of a command."""
        return [
            message.get("arguments") or {}
            for message in self.messages
            if message.get("command") == command and message["type"] == "request"
        ]

    def events(self, event: str) -> list[Message]:
        """Return the bodies of all events of a name."""
        return [message.get("body", {}) for message in self.messages if message.get("event") == event]

    @property
    def failed(self) -> list[Message]:
        """The responses that are no success."""
        return [message for message in self.messages if message["type"] == "response" and not message["success"]]

    @property
    def unanswered(self) -> list[Message]:
        """The requests of either side that have no response."""
        answered = {
            (message["request_seq"], message["command"]) for message in self.messages if "request_seq" in message
        }
        return [
            message
            for message in self.messages
            if message["type"] == "request" and (message["seq"], message["command"]) not in answered
        ]
