"""Actions on trial: each is performed, and its effect is looked for."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from action_fixtures import Answer, Caller
from dapkit.agent.command_words import OF_ADAPTERS

YES = "yes"
UNSEEN = "done, and without effect"


@dataclass
class Trial:
    """What is known of the actions with one adapter.

    Attributes:
        refused: why, by action; the first refusal counts.
        seen: whether the effect of an action was seen, each time that it was looked for.

    """

    caller: Caller
    refused: dict[str, str] = field(default_factory=dict)
    seen: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    async def do(self, action: str, **arguments: object) -> Answer:
        """Have an action performed, and keep a refusal."""
        answer = await self.caller(action, **arguments)
        if not succeeded(answer):
            self.refused.setdefault(action, refusal(answer))
        return answer

    async def see(self, action: str, is_effect: Callable[[Answer], bool], **arguments: object) -> Answer:
        """Have an action performed whose answer shows its effect."""
        answer = await self.do(action, **arguments)
        self.saw(action, succeeded(answer) and is_effect(answer))
        return answer

    def saw(self, action: str, fact: bool) -> None:
        """Take note of whether the effect of an action was seen."""
        self.seen[action].append(fact)

    async def until(self, action: str, is_so: Callable[[Answer], bool]) -> None:
        """Repeat an action until it shows something: processes take their time."""
        with anyio.fail_after(60):
            while not is_so(await self.caller(action)):  # noqa: ASYNC110 - there is no event for it
                await anyio.sleep(0.02)

    def verdicts(self) -> dict[str, str]:
        """Return what came of each action, in the order of the registry: yes, or why not."""
        return {action: self._verdict(action) for action in OF_ADAPTERS}

    def _verdict(self, action: str) -> str:
        if action in self.refused:
            return self.refused[action]
        assert self.seen[action], f"{action} was not tried"
        return YES if all(self.seen[action]) else UNSEEN


def succeeded(answer: Answer) -> bool:
    """Say whether an action was done."""
    return bool(answer.whole["success"])


def refusal(answer: Answer) -> str:
    """Say why an action was refused: by the capability that the adapter lacks, or in the words of the refusal."""
    error = answer.whole["error"]
    lacks = re.fullmatch(r"It lacks (\w+)\.", error["hint"])
    return f"it lacks `{lacks[1]}`" if lacks else str(error["message"]).splitlines()[0]
