"""The program as a process: its start, its output, and its end on request."""
