"""A proxy: what `evaluate` answers is shown in capitals. Give it to an editor in place of the adapter.

python examples/edit_messages.py [TRANSCRIPT]
"""

import sys
from pathlib import Path

from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, Response
from dapkit.proxy import edited, members, run


def louder(message: AnyMessage, _sender: Role) -> AnyMessage:
    """Show results in capitals."""
    match message:
        case Response(command="evaluate", success=True):
            return edited(message, result=str(members(message)["result"]).upper())
    return message


run([sys.executable, "-m", "debugpy.adapter"], edit=louder, transcript=Path(sys.argv[1]) if sys.argv[1:] else None)
