"""The way of a call, from the JSON of the call to the JSON of its answer.

An answer always comes, as an object of one of two forms:

    {"action", "session", "success": true, "text", "details"}
    {"action", "session", "success": false, "text", "error": {"code", "message", "hint"}}

This module decides which caller may do an action, how long the action may take, and which parts of the answer are left
out because they are secret or too long. The action itself does its work.
"""

import logging
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

import anyio

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent import queries as queries  # noqa: PLC0414 - which registers them
from dapkit.agent.actions import in_order
from dapkit.agent.budget import cut
from dapkit.agent.calls.arguments import read
from dapkit.agent.calls.call import ActionCall, Jobs
from dapkit.agent.calls.explanations import explain, unknown_action
from dapkit.agent.calls.failures import ActionFailed
from dapkit.agent.calls.registry import QUERIES, Action, Approval
from dapkit.agent.calls.session_notes import new_notes
from dapkit.agent.results.diagnostics import RecordedAction
from dapkit.agent.text import render
from dapkit.agent.text.escaping import fenced_after_first, one_line
from dapkit.hub.calls import HubCall
from dapkit.protocol import DapkitError, ProtocolObject, to_json_value
from dapkit.redaction.redaction import Redaction, TextKind
from dapkit.sessions.registry import SessionRegistry

log = logging.getLogger(__name__)

_ACTIONS = in_order()


class ActionHandler:
    """The actions on the sessions of one hub."""

    def __init__(self, sessions: SessionRegistry) -> None:
        self._sessions = sessions
        self._memories = new_notes()
        self._jobs: Jobs = {}
        self._redaction = Redaction([os.environ])

    def busy(self) -> bool:
        """Whether any session lives, or any job is debugged."""
        return bool(self._sessions.live) or any(job.is_live for job in self._jobs.values())

    async def handle(self, call: HubCall) -> dict[str, object]:
        """Carry an action out and return the answer."""
        call_of_action: ActionCall | None = None
        start = anyio.current_time()
        try:
            with ExitStack() as in_use:
                action = _allowed(call)
                arguments = read(action, call.arguments, folder=call.project)
                call_of_action = self._call(
                    call, arguments.pop("timeout", None), in_use, any_timeout=action.any_timeout
                )
                result = await self._perform(action, call_of_action, arguments)
        except ActionFailed as failure:
            answer = self._failed(call, call_of_action, failure)
        except Exception as error:
            log.exception("the action %s failed by an internal error", call.name)
            text = f"Internal error: {type(error).__name__}: {error}"
            answer = self._failed(call, call_of_action, ActionFailed("internal", text, hint="dapkit logs shows more."))
        else:
            answer = self._succeeded(call, call_of_action, result)
        if call_of_action is not None and call.name not in QUERIES:
            _log(answer, anyio.current_time() - start)
            self._record(call, call_of_action, answer)
        return answer

    def _call(self, call: HubCall, timeout: object, in_use: ExitStack, *, any_timeout: bool) -> ActionCall:
        requested_seconds = timeout if isinstance(timeout, int | float) else None
        seconds = call.settings.request_timeout_seconds if requested_seconds is None else requested_seconds

        def report(text: str, percentage: float | None) -> None:
            call.report(one_line(self._redaction_for(call, None).text(text)), percentage)

        def show(part: ProtocolObject) -> None:
            call.show(render(self._redaction_for(call, call_of_action).result(part)))

        call_of_action = ActionCall(
            sessions=self._sessions,
            request=replace(call, report=report),
            memories=self._memories,
            jobs=self._jobs,
            timeout=seconds if any_timeout else _bounded(seconds),
            patient=requested_seconds is not None,
            in_use=in_use,
            show=show,
        )
        return call_of_action

    async def _perform(self, action: Action, call: ActionCall, arguments: Mapping[str, object]) -> ProtocolObject:
        # The waits of an action have the call's own deadline; this bounds all later work as well.
        most = call.timeout + limits.ACTION_SECONDS_MORE
        try:
            with anyio.fail_after(most):
                return await action.coroutine(call, **arguments)
        except DapkitError as error:
            raise explain(error, adapter=call.used.adapter if call.used else "") from error
        except TimeoutError as error:
            raise ActionFailed("timeout", f"{action.name} was not done within {most:g} s") from error

    # Answers

    def _record(self, request: HubCall, call: ActionCall, answer: Mapping[str, object]) -> None:
        """Keep an action with its answer for the session's transcript, without secrets, whatever the settings say."""
        if call.used is None or (remembered := self._memories.get(call.used)) is None:
            return
        took = call.timeout - (call.ends - anyio.current_time())
        arguments = {name: value for name, value in request.arguments.items() if value is not None}
        redaction = remembered.redaction.with_code()
        remembered.record.add(
            RecordedAction(
                number=0,
                time=time.time() - took,
                seconds=took,
                action=request.name,
                arguments=redaction.json(arguments, TextKind.OUTPUT),
                success=answer["success"] is True,
                text=redaction.text(str(answer["text"]), TextKind.CODE),
                details=redaction.json(answer.get("details")),
            ),
            output_end=call.used.output.end,
        )

    def _succeeded(self, request: HubCall, call: ActionCall, result: ProtocolObject) -> dict[str, object]:
        query = QUERIES.get(request.name)
        without_secrets = query is not None and query.without_secrets
        redacted = result if without_secrets else self._redaction_for(request, call).result(result)
        return {
            **_head(request, call),
            "success": True,
            "text": cut(render(redacted), request.settings.text_bytes),
            "details": to_json_value(redacted),
        }

    def _failed(self, request: HubCall, call: ActionCall | None, failure: ActionFailed) -> dict[str, object]:
        redaction = self._redaction_for(request, call)
        message = cut(fenced_after_first(redaction.text(failure.message)), request.settings.text_bytes)
        hint = redaction.text(failure.hint)
        error = {"code": failure.code, "message": message, "hint": hint}
        return {
            **_head(request, call),
            "success": False,
            "text": f"{message}\n{hint}" if hint else message,
            "error": error,
        }

    def _redaction_for(self, request: HubCall, call: ActionCall | None) -> Redaction:
        if not request.settings.redact_enabled:
            return _NO_REDACTION
        if call is not None and call.used is not None and (remembered := self._memories.get(call.used)) is not None:
            return remembered.redaction
        of_sessions = [
            memory.redaction for session, memory in self._memories.items() if session.project == request.project
        ]
        return Redaction([request.env or {}, _given_environment(request)], also=[self._redaction, *of_sessions])


def _bounded(seconds: float) -> float:
    return min(max(seconds, shared_limits.ACTION_SECONDS_LEAST), shared_limits.ACTION_SECONDS_MOST)


def _given_environment(request: HubCall) -> Mapping[str, str]:
    """Return the variables that a program is to be started with, as far as they are fit to be any."""
    env = request.arguments.get("env")
    return {name: value for name, value in env.items() if isinstance(value, str)} if isinstance(env, dict) else {}


class _NoRedaction(Redaction):
    """Leaves everything as it is."""

    def text(self, text: str, kind: TextKind = TextKind.PLAIN) -> str:  # noqa: ARG002 - of the base class
        return text

    def result[T: ProtocolObject](self, result: T) -> T:
        return result

    def json(self, value: object, kind: TextKind = TextKind.PLAIN) -> object:  # noqa: ARG002 - of the base class
        return value

    def with_code(self) -> Redaction:
        return self


_NO_REDACTION = _NoRedaction()


def _allowed(call: HubCall) -> Action:
    """Find the action, and make sure that the caller may have it done."""
    if not call.settings.debug_enabled:
        raise ActionFailed(
            "disabled", "The debug tool is switched off.", hint="The setting debug.enabled switches it on."
        )
    action = _ACTIONS.get(call.name) or QUERIES.get(call.name)
    if action is None:
        raise unknown_action(call.name)
    if call.read_only and action.approval is not Approval.READ and not action.reads_if(call.arguments):
        raise ActionFailed(
            "refused", f"{call.name} is refused: only actions that read are allowed here.", hint="Drop --read-only."
        )
    return action


def _log(answer: Mapping[str, object], seconds: float) -> None:
    """Log the action; of an error only its code, since texts contain values of the program."""
    error = answer.get("error")
    outcome = f"failed ({error['code']})" if isinstance(error, dict) else "done"
    session = "" if answer["session"] is None else f" of {answer['session']}"
    log.info("%s%s: %s, %.1f s", answer["action"], session, outcome, seconds)


def _head(request: HubCall, call: ActionCall | None) -> dict[str, object]:
    session_name = call.used.name if call is not None and call.used is not None else request.session
    return {"action": request.name, "session": session_name}
