"""Profiles of a running program: what its threads spend their time on.

samples        stacks that were seen, and how often
call_tree      the same as a tree
top_functions  the same by function
flame_graph    the tree as a picture
profile        one profile, as JSON and as texts
window         for how long is recorded
tools          tools that look at a program, ended with us
py_spy, waiting, perf, go_pprof, pprof_format, go_names    the tools, and what they write
choice         which of them a program gets, and why
work, performance    the two routes
"""
