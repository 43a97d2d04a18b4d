"""Diagnostics as commands; `dapkit.diagnostics` does the work."""
