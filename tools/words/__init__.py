"""Checks of the words of the code base: names of classes, names of modules in prose, terms and phrases."""
