"""What an action is given besides its parameters."""


class Call:
    """One call of an action."""
