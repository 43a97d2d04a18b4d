"""The part of the Python debugger that runs inside the debugged program.

Standard library only, and of that only modules that the interpreter has in C: the program must find `json`, `socket` or
`threading` as untouched as without a debugger. `loader` loads it outside of `sys.modules`, so every import inside this
package is relative.
"""
