"""What is looked at in a whole terminal: the menu of diagnostics, and its viewers."""
