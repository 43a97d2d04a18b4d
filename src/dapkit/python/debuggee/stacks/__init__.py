"""Threads, tasks and their frames, as they are shown."""
