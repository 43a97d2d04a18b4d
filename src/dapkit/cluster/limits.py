"""Limits of jobs. Sizes are in bytes unless a name says otherwise, times in seconds."""

READERS = 4
"""Processes that are read at a time."""

READ_ATTEMPTS = 4
"""How often a process is read that changes meanwhile."""

READ_SECONDS = 10.0
"""Time within which one process must be read."""

NODE_SECONDS = 30.0
"""Time within which a machine must have read its members, the start of its command included."""

DEBUG_SERVER_SECONDS = 5.0
"""Time within which PyTorch's debug server must answer."""

DEBUG_SERVER_BYTES = 128 * 1024 * 1024
"""Size of a page of it, which has the flight recorders of all ranks."""

DEBUG_SERVER_PART = 1024 * 1024
"""Bytes of a page that are read at a time."""

NODE_ANSWER = 64 * 1024 * 1024
"""Size of a machine's answer."""

ROUNDS = 100
"""Rounds of one look, at most."""

CONFIRMATIONS = 2
"""How often members are read again that are not where most are."""

CONFIRMATION_SECONDS = 0.1
"""Pause before that."""

MEMBER_SECONDS = 10.0
"""Time within which a member must answer a request."""

CONNECT_SECONDS = 20.0
"""Time within which the engine of a member must be connected, where it must be brought into a running process first."""

SESSION_SECONDS = 10.0
"""Time within which an editor opens the session with a member that it was asked to open."""

REMOTE_CONNECTS = 8
"""Members on other machines that are connected to at a time; sshd refuses more than ten by default."""

RELAY_END_SECONDS = 2.0
"""Time within which the command of a connection to another machine must end, once the connection has ended."""

JOIN_SECONDS = 1.0
"""Pause after which it is looked for members that have joined."""

STACK_LEVELS = 20
"""Frames of a stopped thread that are compared."""

VALUES = 12
"""Local variables of a representative that are shown."""

ENGINE_SECONDS = 10.0
"""Time within which an engine must answer."""

WORKER_SECONDS = 3.0
"""Time within which the workers of an engine must answer it, all together, and then each by itself."""

SETTLE_SECONDS = 0.1
"""How long to wait, after a stop in a job, for others that come at the same time."""
