"""Writes the tasks of a process as JSON, in the shape that `unwinder_script.py` has for later versions."""

import asyncio
import json
import sys
from typing import Any

from .check import measure_and_check
from .layout import Layout
from .objects import Objects
from .process_memory import Image, Memory, Unfit, Unreadable
from .tasks import read_tasks

_TESTED = ((3, 12), (3, 13))


def _answer(pid: int) -> dict[str, Any]:
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in _TESTED:
        return _refusal(f"Python {sys.version.split()[0]} was not tested")
    try:
        layout = Layout()
        asyncio.run(measure_and_check(layout))
        objects = Objects(Memory(pid, keeps=True), Image(pid, file=layout.image.file), layout)
        readings, missing = read_tasks(objects)
    except Unfit as error:
        return _refusal(str(error))
    except Unreadable:
        return _refusal("the program's memory changed whenever it was read")
    except OSError as error:
        return _refusal(f"the program's memory cannot be read: {error.strerror}")
    tasks = [reading._asdict() for reading in readings]
    return {"threads": None, "tasks": tasks, "reasons": {"tasks": missing} if missing else {}}


def _refusal(reason: str) -> dict[str, Any]:
    return {"threads": None, "tasks": None, "reasons": {"threads": "", "tasks": reason}}


json.dump(_answer(int(sys.argv[1])), sys.stdout)
