"""Print, as JSON, arguments for all requests of clients: `legal` ones, and `illegal` ones with one fault each."""

import json
import sys

from dapkit.endpoint.receiver import INSTEAD_OF_NOTHING
from dapkit.protocol import COMMANDS, Direction
from dapkit.testing import samples

json.dump(
    {
        spec.command: {
            "legal": [make(spec.arguments) for make in (samples.smallest, samples.fullest, samples.with_nulls)],
            "illegal": [
                fault.value
                for fault in samples.faulty(spec.arguments, "$.arguments")
                if not any(fault.value.get(name) is None for name in INSTEAD_OF_NOTHING.get(spec.command, ()))
            ],
        }
        for spec in COMMANDS.values()
        if spec.direction is Direction.CLIENT_TO_ADAPTER
    },
    sys.stdout,
)
