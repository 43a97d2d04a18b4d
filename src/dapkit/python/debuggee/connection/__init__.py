"""The connection to the adapter: the link and its messages, and the door through which clients come to a program."""
