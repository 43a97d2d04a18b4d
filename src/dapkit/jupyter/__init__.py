"""Jupyter's kernel for Python with dapkit as its debugger: the part inside the kernel, and its installer.

ipykernel is the user's, and is imported by `kernel` alone; nothing else of dapkit imports this package.
"""
