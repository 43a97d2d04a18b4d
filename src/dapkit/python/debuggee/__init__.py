"""The part of the Python debugger that runs inside the debugged program.

Standard library only, and of that only what the interpreter has in C: the program
must find `json`, `socket` or `threading` as untouched as without a debugger. It is
loaded under the private package name `_dapkit_debuggee` (see `entry`), so every
import inside this package is relative.
"""
