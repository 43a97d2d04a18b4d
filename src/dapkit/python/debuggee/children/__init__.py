"""Child processes of the program: how they get a session of their own."""
