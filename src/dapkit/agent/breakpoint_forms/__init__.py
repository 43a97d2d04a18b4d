"""Breakpoints as callers write them and as answers show them."""
