"""The Debug Adapter Protocol for Python, whole."""
