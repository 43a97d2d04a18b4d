"""Running the program's own code for the client: in which thread, for how long, and within which limits."""
