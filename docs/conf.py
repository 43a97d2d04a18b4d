"""Configuration of Sphinx; `make docs` builds the pages."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent / "src"), str(DOCS.parent / "tools"), str(DOCS)]

project = "dapkit"
author = "the dapkit authors"
release = installed_version("dapkit")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "show_names"]
exclude_patterns = ["_build"]
nitpicky = True
default_role = "code"  # of docstrings

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = f"dapkit {release}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
