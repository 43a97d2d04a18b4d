"""Results of actions: plain values, each with a published JSON schema."""
