"""Actions on debug sessions for coding agents and scripts."""
