"""Jupyter's kernel for Python with dapkit as its debugger: what runs inside the kernel, and what installs it.

ipykernel is the user's, and is imported by `kernel` alone; nothing else of dapkit imports this package.
"""
