"""A package's own tests: `suite.py FOLDER TESTS` runs them with pytest, and prints the processor seconds that took."""

import contextlib
import io
import json
import os
import sys
import time

if __name__ == "__main__":
    folder, tests = sys.argv[1:]
    os.chdir(folder)
    sys.path[:0] = ["src", "."]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        import pytest

        code = pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=.", *tests.split()])
    if code != pytest.ExitCode.OK:
        sys.exit(said.getvalue())
    print(json.dumps([time.process_time()]))
