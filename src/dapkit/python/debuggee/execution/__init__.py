"""How the program runs: events of the interpreter, stops, steps, and moving to other places."""
