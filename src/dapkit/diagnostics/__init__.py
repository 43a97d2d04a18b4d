"""What to look at when a program, or dapkit itself, does something strange: logs, messages, profiles, reports.

Each route of the menu that `dapkit diagnose` shows is a function here, without anything of a terminal: it returns what
was found as a value, with `as_json()` for scripts and `as_text()` for people. What it wants to know of a session it
asks the hub (`sessions`), what it writes is in the session's folder (`artifacts`). All errors are `DiagnosticsError`.
"""
