"""Child processes of a program, each with a session of its own."""
