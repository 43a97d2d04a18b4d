"""Recordings of programs: what a run took from outside, in a file by which it is executed again.

    dapkit record --> recorder --> the program, which writes notes into a folder --> file: one archive
    a launch with "replay" --> file: the folder again --> comparison: is all here that it was recorded with?

The format of the file is described in `docs/reference/python/recordings.md`.
"""
