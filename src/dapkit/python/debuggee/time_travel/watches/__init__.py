"""Watches: each looks, at every line of a replay, for the last moment of something."""
