#!/bin/sh
# Run node for js-debug, which reports neither the exit code 0 nor a signal, and no exit code at all while it captures
# stdout and stderr. The line is read by the trait `exit_line`.
# Outside of a terminal it connects stdin to a socket that it never writes to, and never ends.
[ -S /dev/stdin ] && exec </dev/null
node "$@"
code=$?
printf '[dapkit: the program has ended with exit code %d]\n' "$code" >&2
exit "$code"
