"""The starts of the engine: with a launched program, in one that clients attach to, and in one that already runs."""
