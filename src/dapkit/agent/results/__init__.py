"""What actions return: plain values, each with a published JSON schema."""
