"""A command that makes one call of a hub with `answering_hub`, and prints the result.

python calling_command.py FOLDER NAME [ARGUMENTS]
"""

import json
import sys
from pathlib import Path

from dapkit import limits
from dapkit.hub.client import HubClient

limits.HUB_START_SECONDS = 120.0  # of a busy machine


def main(folder: str, hub: str, project: str, name: str, arguments: str = "{}") -> None:
    hub_client = HubClient(folder, command=(sys.executable, str(Path(__file__).with_name(f"{hub}.py"))))

    def say(message: str, _percentage: float | None) -> None:
        print(message, flush=True)

    print(json.dumps(hub_client.call(name, json.loads(arguments), project=project, on_progress=say)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
