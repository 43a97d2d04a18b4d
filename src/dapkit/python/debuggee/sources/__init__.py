"""The program's code as texts: files and modules, their display, and files that are edited meanwhile."""
