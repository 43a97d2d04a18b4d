"""The program's code as texts: files and modules, what is shown of them, and files that are edited meanwhile."""
