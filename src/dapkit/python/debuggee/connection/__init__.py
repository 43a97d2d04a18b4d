"""The connection to the adapter: the link and its messages and requests, and the listener for clients."""
