"""JSON schemas of types, for those who read their JSON without having the types."""

from collections.abc import Iterable, Mapping

import msgspec

type Schema = dict[str, object]


def json_schemas(kinds: Iterable[type[msgspec.Struct]]) -> Mapping[str, Schema]:
    """Return the schemas of types, and of all that they are made of, by name; they refer to `#/$defs/NAME`.

    >>> from dapkit.protocol import ThreadsBody
    >>> schemas = json_schemas([ThreadsBody])
    >>> list(schemas), schemas["Thread"]["required"]
    (['Thread', 'ThreadsBody'], ['id', 'name'])
    """
    _, schemas = msgspec.json.schema_components(kinds, schema_hook=_hook, ref_template="#/$defs/{name}")
    return dict(sorted(schemas.items()))


def _hook(kind: type) -> Schema:
    """Describe what msgspec has no word for: anything at all."""
    if kind is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError(kind)
