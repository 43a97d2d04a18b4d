"""The API that a debugged program calls, and `python -m dapkit`."""
