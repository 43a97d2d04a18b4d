"""The program as a process: how it is run, what it writes, and how it is asked to end."""
