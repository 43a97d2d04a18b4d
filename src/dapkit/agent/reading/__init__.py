"""Reading a stopped program for an answer: frames, variables, sources, reports."""
