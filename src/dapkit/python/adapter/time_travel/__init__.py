"""The adapter's side of time travel: the timeline, its checkpoints, and queries about the history."""
