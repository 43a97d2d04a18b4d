"""Launch and attach arguments: their types, and their translation for the engine."""
