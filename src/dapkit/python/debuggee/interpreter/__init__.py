"""Parts of CPython that an engine may touch without being seen, and how."""
