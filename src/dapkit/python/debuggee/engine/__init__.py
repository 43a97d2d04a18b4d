"""The engine as a whole: its parts put together, and the life of a session."""
