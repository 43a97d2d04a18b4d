"""The engine inside the program as the adapter sees it: its link, its output, its breakpoints."""
