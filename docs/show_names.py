"""Sphinx extension: shows the public names of a package, by the directive of tools/public_names.py.

What is below is the docstrings as they are; only what reStructuredText would read otherwise is adapted.
"""

import ast
import builtins
import enum
import importlib
import re
from collections.abc import Iterator
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

from public_names import PACKAGES, Definition, chosen, owner, public_names

_LIST_SECTIONS = ("Args", "Attributes", "Raises")
_ENTRY = re.compile(r"[\w.`*, ]+: ")
_LONGEST_VALUE = 100


class ShowNames(Directive):
    """All public names of a package, or of some of its modules."""

    required_arguments = 1
    option_spec: ClassVar = {"within": directives.unchanged_required, "except": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Write reStructuredText, and have it read."""
        package = self.arguments[0]
        names = chosen(package, within=self.options.get("within", ""), without=self.options.get("except", ""))
        text = [line for name, definition in names.items() for line in (*_entry(package, name, definition), "")]
        fence = "`" * 10
        lines = [f"{fence}{{eval-rst}}", *text, fence]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, self.arguments[0]), self.content_offset, holder)
        return holder.children


def _entry(package: str, name: str, definition: Definition) -> Iterator[str]:
    full = f"{package}.{name}"
    if not definition.is_within(package):
        yield from (f".. py:data:: {full}", "", f"   The same as :py:obj:`{owner(definition.module)}.{name}`.")
        return
    value = getattr(importlib.import_module(package), name)
    match definition.statement:
        case ast.ClassDef() if issubclass(value, Exception):
            yield from (f".. autoexception:: {full}", "   :members:", *_inherited(value))
        case ast.ClassDef() if issubclass(value, enum.Enum):
            yield from (f".. autoclass:: {full}", "   :members:", "   :undoc-members:")
        case ast.ClassDef():
            yield from (f".. autoclass:: {full}", "   :members:", *_inherited(value))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield f".. autofunction:: {full}"
        case ast.TypeAlias(value=expression):
            yield from (f".. py:type:: {full}", f"   :canonical: {ast.unparse(expression)}")
            yield from _description(definition)
        case ast.AnnAssign(annotation=annotation, value=expression):
            yield from (f".. py:data:: {full}", f"   :type: {ast.unparse(annotation)}", *_value(expression))
            yield from _description(definition)
        case ast.Assign(value=expression):
            yield from (f".. py:data:: {full}", *_value(expression))
            yield from _description(definition)


def _inherited(kind: type) -> Iterator[str]:
    """Show what comes from bases without a public name of their own; the others have it on their own page."""
    public = {f"{item.module}.{name}" for package in PACKAGES for name, item in public_names(package).items()}
    ours = [base for base in kind.__mro__[1:] if base.__module__.startswith("dapkit.")]
    if any(f"{base.__module__}.{base.__name__}" not in public for base in ours):
        last = [
            base.__name__
            for base in kind.__mro__[1:]
            if base not in ours or f"{base.__module__}.{base.__name__}" in public
        ]
        yield f"   :inherited-members: {', '.join(last)}"


def _value(expression: ast.expr | None) -> Iterator[str]:
    if expression is not None and len(text := ast.unparse(expression)) <= _LONGEST_VALUE:
        yield f"   :value: {text}"


def _description(definition: Definition) -> Iterator[str]:
    lines = (definition.description or "").split("\n")
    _adapt(lines)
    yield from ("", *(f"   {line}" for line in lines))


def _adapt_docstring(_app: Sphinx, _what: str, _name: str, _of: object, _options: object, lines: list[str]) -> None:
    _adapt(lines)


def _adapt(lines: list[str]) -> None:
    """Make sections with a colon into lists and blocks of code, in place; what is code already is left alone."""
    adapted: list[str] = []
    section = code = None
    for index, line in enumerate(lines):
        indent, text = _split(line)
        below = _split(next((later for later in lines[index + 1 :] if later.strip()), ""))
        if text and section is not None and len(indent) <= section:
            section = None
        if code is not None and (not text if code < 0 else text and len(indent) <= code):
            code = None
        if code is not None or not text:
            adapted.append(line)
        elif text.startswith(">>>"):
            code = -1  # to the next empty line
            adapted.append(line)
        elif text.endswith("::"):
            code = len(indent)
            adapted.append(line)
        elif text.endswith(":") and text[:-1] in _LIST_SECTIONS:
            section = len(indent)
            adapted += [line, ""]
        elif section is not None:
            adapted.append(f"{indent}* {text}" if _ENTRY.match(text) else f"{indent}{text}")
        elif text.endswith(":") and len(below[0]) > len(indent):
            code = None if below[1].startswith(">>>") else len(indent)
            adapted += [line if code is None else f"{line}:", ""]
        else:
            adapted.append(line)
    lines[:] = adapted


def _split(line: str) -> tuple[str, str]:
    text = line.lstrip()
    return line[: len(line) - len(text)], text


def _unlink_builtins(_app: Sphinx, doctree: nodes.document) -> None:
    """Take the links from names of Python itself: `type` would lead to any field of this name."""
    for node in list(doctree.findall(pending_xref)):
        if node.get("refdomain") == "py" and hasattr(builtins, str(node.get("reftarget"))):
            node.replace_self(node.children)


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | nodes.TextElement | None:
    """Lead from the module that defines a name to its public name; what is not public, and of others, has no link."""
    target = str(node.get("reftarget", ""))
    if node.get("refdomain") != "py":
        return None
    objects = env.domains.python_domain.objects
    module, _, name = target.rpartition(".")
    package = owner(module)
    if package is not None and (entry := objects.get(f"{package}.{name}")) is not None:
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, target)
    return None if module in PACKAGES else content


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx."""
    app.add_directive("public-names", ShowNames)
    app.connect("autodoc-process-docstring", _adapt_docstring)
    app.connect("doctree-read", _unlink_builtins)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True}
