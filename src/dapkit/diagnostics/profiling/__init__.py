"""Profiles of a running program: where its threads spend their time.

samples        stacks that were seen, and how often
call_tree      the same as a tree
top_functions  the same by function
flame_graph    the tree as a picture
profile        one profile, as JSON and as texts
window         the duration of a recording
tools          profiling tools, ended with dapkit
py_spy, waiting, perf, go_pprof, pprof_format, go_names    the tools, and their output
choice         the choice of a tool for a program, and the reason
work, performance    the two entries
"""
