"""The program's code as the interpreter has it: instructions, their addresses and places, and their text."""
