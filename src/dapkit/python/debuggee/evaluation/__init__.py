"""Running the program's own code for the client: in which thread, for how long, and what it may not do."""
