"""The pods of Kubernetes that a selector names: `k8s://NAMESPACE/SELECTOR`, such as `k8s://default/app=train`.

Everything passes by kubectl and the user's own rights there. A pod is read by a command in it, for which its image
needs Python and dapkit; another container of the pod serves as well, by `--via`:

    dapkit job where k8s://ml/job-name=train
    dapkit job where --via 'kubectl debug -n ml -i {host} --image=IMAGE --target=main --profile=sysadmin --' k8s://ml/...

Of a pod of an indexed job the completion index is the rank. Probes that would restart a pod that does not answer are
named, since a stopped process does not answer them.
"""

import json
import subprocess
from collections.abc import Iterator
from typing import Any, Final

from dapkit.cluster import limits
from dapkit.cluster.engines.engine import QuietEngine
from dapkit.cluster.errors import UnknownTarget
from dapkit.cluster.members import Member, MemberState

SCHEME: Final = "k8s://"
_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_STATES: Final = {"Succeeded": MemberState.ENDED, "Failed": MemberState.ENDED, "Pending": MemberState.GONE}


class Pods(QuietEngine):
    """The pods of a selector.

    Attributes:
        namespace: of the pods.
        selector: their labels, as `kubectl -l` takes them.

    """

    def __init__(self, target: str) -> None:
        self.namespace, _, self.selector = target.removeprefix(SCHEME).partition("/")
        if not self.namespace or not self.selector:
            raise UnknownTarget(f"{target} does not name pods: expected k8s://NAMESPACE/SELECTOR, such as app=train")
        self._probes: list[str] = []

    @property
    def via(self) -> str:
        """The command that runs another in a pod."""
        return f"kubectl exec -n {self.namespace} -i {{host}} --"

    def members(self) -> list[Member]:
        """Return the pods. Raises: UnknownTarget."""
        command = ["kubectl", "get", "pods", "-n", self.namespace, "-l", self.selector, "-o", "json"]
        try:
            answer = subprocess.run(
                command, capture_output=True, check=False, timeout=limits.ENGINE_SECONDS, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise UnknownTarget(f"kubectl cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            raise UnknownTarget(f"kubectl did not answer within {limits.ENGINE_SECONDS:g} s") from None
        if answer.returncode != 0:
            reason = " ".join(answer.stderr.decode(errors="replace").split())
            raise UnknownTarget(f"kubectl cannot list the pods: {reason}")
        try:
            pods = json.loads(answer.stdout)["items"]
            self._probes = [text for pod in pods for text in _probes_of(pod)]
            members = [_member(pod) for pod in pods]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnknownTarget(f"kubectl has answered something else: {error!r}") from error
        if not members:
            raise UnknownTarget(f"no pod of {self.namespace} has the labels {self.selector}")
        return sorted(members, key=lambda member: (member.rank, member.host))

    def notes(self) -> list[str]:
        """Return the probes that restart a pod whose process is stopped."""
        return self._probes


def _member(pod: dict[str, Any]) -> Member:
    metadata, phase = pod["metadata"], str(pod.get("status", {}).get("phase", ""))
    index = str({**metadata.get("labels", {}), **metadata.get("annotations", {})}.get(_INDEX, ""))
    name = str(metadata["name"])
    rank = int(index) if index.isdecimal() else -1
    state = _STATES.get(phase, MemberState.RUNNING)
    note = "" if state == MemberState.RUNNING else f"its pod is {phase.lower()}{_reason(pod)}"
    failed = phase == "Failed"
    return Member(name if rank < 0 else str(rank), rank, name, 0, state=state, note=note, failed=failed)


def _reason(pod: dict[str, Any]) -> str:
    """Return why a pod is not running, such as an exit code."""
    for status in pod.get("status", {}).get("containerStatuses", []):
        for state in status.get("state", {}).values():
            reason, code = state.get("reason", ""), state.get("exitCode")
            return f" ({reason}{'' if code is None else f', exit code {code}'})"
    return ""


def _probes_of(pod: dict[str, Any]) -> Iterator[str]:
    for container in pod.get("spec", {}).get("containers", []):
        probe = container.get("livenessProbe")
        if probe:
            seconds = probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)
            name = pod["metadata"]["name"]
            yield f"Pod {name} is restarted by its liveness probe if it does not answer for {seconds} s"
