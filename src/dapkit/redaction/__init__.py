"""Secrets: which names and shapes are secret, and how they are removed from text and JSON."""
