"""The kinds of templates, by the keys of `launch` and `attach` that ask for them, and which of them are asked for."""

from typing import Final, NamedTuple

from ..interpreter.frame_views import Reader, set_recognizers
from ..interpreter.gc_tracking import untrack
from . import django, django_errors, jinja


class TemplateKind(NamedTuple):
    """One kind of templates: the functions that recognise its frames, and the names of templates without a file."""

    readers: tuple[Reader, ...]
    without_file: str


KINDS: Final = {
    "jinja": untrack(TemplateKind(untrack((jinja.frame_of,)), jinja.IN_MEMORY)),
    "django": untrack(TemplateKind(untrack((django.frame_of, django_errors.frame_of)), django.IN_MEMORY)),
}


def choose(names: frozenset[str]) -> tuple[str, ...]:
    """Recognise the frames of these kinds; return the file names that templates of theirs have without a file."""
    kinds = [kind for name, kind in KINDS.items() if name in names]
    set_recognizers([reader for kind in kinds for reader in kind.readers])
    return tuple(kind.without_file for kind in kinds)
