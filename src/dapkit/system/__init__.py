"""This machine and this process: folders, files, imports, processes."""
