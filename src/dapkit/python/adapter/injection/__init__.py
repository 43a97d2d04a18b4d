"""Getting into a running program that has not asked for a debugger."""
