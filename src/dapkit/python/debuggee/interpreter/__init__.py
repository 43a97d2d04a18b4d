"""What an engine inside CPython may touch without being seen, and how."""
