"""Limits of redaction.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

SECRET_CHARACTERS = 6
"""Shortest value that counts as a secret; shorter ones, such as `1` or `true`, would be found everywhere."""

SECRET_MOST = 4096
"""Longest value that is remembered as a secret."""

SECRETS_FOUND = 200
"""Values of a session that are remembered as secrets because their variables have secret names."""

SECRET_PART_CHARACTERS = 4
"""Shortest beginning of a secret that is recognised where a value was cut."""
