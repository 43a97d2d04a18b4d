"""The frames of threads and tasks, as they are shown."""
