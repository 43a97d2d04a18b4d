"""Configuration of Sphinx; `make docs` builds the pages."""

from importlib.metadata import version as installed_version

project = "dapkit"
author = "the dapkit authors"
release = installed_version("dapkit")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = f"dapkit {release}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
