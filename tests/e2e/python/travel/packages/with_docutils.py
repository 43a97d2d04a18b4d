"""A document of reStructuredText, made into a tree and into HTML."""

from docutils.core import publish_doctree, publish_parts

s_source = """
Title
=====

Some *text*, ``code``, and a list:

* one
* two

====  =====
name  price
====  =====
tea   3
cake  4
====  =====
"""
tree = publish_doctree(s_source, settings_overrides={"_disable_config": True})
s_kinds = {}
for node in tree.findall():
    kind = type(node).__name__
    s_kinds[kind] = s_kinds.get(kind, 0) + 1
s_page = publish_parts(s_source, writer="html5", settings_overrides={"_disable_config": True})["body"]
s_length = len(s_page)
s_rows = s_page.count("<tr>")
print(sorted(s_kinds.items())[:4], s_rows, s_length)
