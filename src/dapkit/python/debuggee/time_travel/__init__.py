"""Time travel: the clock of the live program, and the processes that show its past."""
