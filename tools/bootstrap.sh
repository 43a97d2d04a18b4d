#!/bin/sh
# Start bootstrap.py with the first python3 that runs.
#
# The python3 on PATH may be the shim of a version manager, which refuses to start
# here when it lacks the version in .python-version; hence the other places.
set -eu
tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
for python in python3 /usr/bin/python3 /usr/local/bin/python3 "${PYENV_ROOT:-${HOME-}/.pyenv}"/versions/*/bin/python3; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then
        exec "$python" -I "$tools/bootstrap.py" "$@"
    fi
done
echo "bootstrap: found no python3 that runs; install Python (3.12 or newer is best), then try again" >&2
exit 1
