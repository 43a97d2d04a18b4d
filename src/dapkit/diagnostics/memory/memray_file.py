"""The file of memray, read in a separate process: `python -m dapkit.diagnostics.memory.memray_file FILE ROWS`.

It prints a JSON object: the bytes and allocations that were still held at the end, by the line that has made them.
"""

import json
import sys

_DEBUGGERS = ("/dapkit/python/debuggee/", "/dapkit/diagnostics/memory/tracked.py", "/debugpy/", "/memray/")
"""Parts of the paths of files whose allocations are not the program's."""


def read(file: str, rows: int) -> dict[str, object]:
    """Return the allocations that were held at the end."""
    import memray

    sums: dict[str, list[int]] = {}
    with memray.FileReader(file) as reader:
        for record in reader.get_leaked_allocation_records(merge_threads=True):
            trace = record.stack_trace(max_stacks=1)
            _, path, line = trace[0] if trace else ("", "", 0)
            if any(part in path for part in _DEBUGGERS):
                continue
            row = sums.setdefault(f"{path}:{line}" if path else "native code", [0, 0])
            row[0] += record.n_allocations
            row[1] += record.size
    ordered = sorted(sums.items(), key=lambda row: -row[1][1])
    others = [row for _, row in ordered[rows:]]
    return {
        "rows": [{"name": name, "count": count, "size": size} for name, (count, size) in ordered[:rows]],
        "others": len(others),
        "otherCount": sum(count for count, _ in others),
        "otherSize": sum(size for _, size in others),
    }


if __name__ == "__main__":
    print(json.dumps(read(sys.argv[1], int(sys.argv[2]))))  # noqa: T201 - the purpose of this process
