"""Calls of actions: from JSON to a coroutine, and back to an answer or a failure."""
