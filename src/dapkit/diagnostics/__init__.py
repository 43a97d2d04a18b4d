"""Tools for a program, or dapkit itself, that behaves strangely: logs, messages, profiles, reports.

Each entry of the menu that `dapkit diagnose` shows is a function here, independent of a terminal: it returns its result
as a value, with `as_json()` for scripts and `as_text()` for people. It asks the hub about a session (`sessions`), and
writes files into the session's folder (`artifacts`). All errors are `DiagnosticsError`.
"""
