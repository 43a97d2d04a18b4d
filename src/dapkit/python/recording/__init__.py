"""Recordings of programs: the inputs of a run, in a file from which it is replayed.

    dapkit record --> recorder --> the program, which writes notes into a folder --> file: one archive
    a launch with "replay" --> file: the folder again --> comparison: is all here that it was recorded with?

`library_files` takes the contents of installed packages out of the notes and puts them back; `process_tree` has the
processes recorded that the program starts.

The format of the file is described in `docs/reference/python/recordings.md`.
"""
