"""Programs that the adapter starts: command line, interpreter, process, terminal, end."""
