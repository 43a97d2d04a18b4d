"""What the registry of actions is turned into."""
