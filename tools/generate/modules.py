"""Whole modules: each topic's definitions with imports and banner, formatted."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from generate import descriptions, structs
from generate.model import Enumeration, Object, Protocol
from generate.origin import BANNER, VERSION
from generate.schema import RANGES, SchemaError
from generate.tables import table_names, tables
from generate.topics import EVENT_TYPES, TOPICS, Topic

PACKAGE = "dapkit.protocol.generated"
_ROOT = Path(__file__).parents[2]
_BASES = ("Arguments", "EventBody", "OpenArguments", "ProtocolObject")


def generate(protocol: Protocol) -> Mapping[str, str]:
    """Make every module of the package: file name -> source text."""
    _check_places(protocol)
    descriptions.check(protocol)
    homes: dict[str, str] = {}
    texts: dict[str, str] = {}
    for topic in TOPICS:
        blocks, defined, used = _topic(protocol, topic)
        texts[topic.module] = _module(topic.about, blocks, _imports(used, homes, blocks))
        _settle(homes, defined, topic.module)
    blocks, defined, used = _events(protocol)
    texts["events"] = _module("The bodies of all events", blocks, _imports(used, homes, blocks))
    _settle(homes, defined, "events")
    texts["tables"] = _tables(protocol, homes)
    texts["__init__"] = _package(homes)
    return formatted({f"{name}.py": text for name, text in texts.items()})


def _topic(protocol: Protocol, topic: Topic) -> tuple[list[str], list[str], set[str]]:
    types: dict[str, Object | Enumeration] = {item.name: item for item in protocol.objects}
    types.update({item.name: item for item in protocol.enumerations})
    commands = {command.name: command for command in protocol.commands}
    collected = _Collected()
    for name in topic.types:
        match types[name]:
            case Enumeration() as item:
                collected.add_enumeration(item)
            case Object() as item:
                collected.add(item, structs.data_type(item), item.base or "ProtocolObject")
    for name in topic.commands:
        command = commands[name]
        if command.own_body is not None:
            collected.add(command.own_body, structs.body(command.own_body, command), "ProtocolObject")
        elif command.body is not None:
            collected.used.add(command.body)
        base = "OpenArguments" if command.is_open else "Arguments"
        collected.add(command.arguments, structs.arguments(command), base)
    return collected.blocks, collected.defined, collected.used


def _events(protocol: Protocol) -> tuple[list[str], list[str], set[str]]:
    collected = _Collected()
    for item in protocol.enumerations:
        if item.name in EVENT_TYPES:
            collected.add_enumeration(item)
    for event in protocol.events:
        collected.add(event.body, structs.event(event), "EventBody")
    return collected.blocks, collected.defined, collected.used


class _Collected:
    """The blocks of one module, the names they define and the names they use."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.defined: list[str] = []
        self.used: set[str] = set()

    def add_enumeration(self, item: Enumeration) -> None:
        self.blocks.append(structs.named_enumeration(item))
        self.defined.append(item.name)

    def add(self, item: Object, text: str, base: str) -> None:
        if item.enumerations:
            self.blocks.append(structs.inline_enumerations(item))
            self.defined += [enumeration.name for enumeration in item.enumerations]
        self.blocks.append(text)
        self.defined.append(item.name)
        self.used.add(base)
        for field in item.fields:
            self.used |= structs.names_in(field.type)


def _tables(protocol: Protocol, homes: Mapping[str, str]) -> str:
    used = table_names(protocol) | {"EventBody"}
    imports = [
        "from collections.abc import Mapping",
        "from types import MappingProxyType",
        "",
        *_imports(used, homes, []),
        "from dapkit.protocol.specs import CommandSpec, Direction",
    ]
    version = (
        f'SCHEMA_VERSION = "{VERSION}"\n"""The version of the specification that this package was generated from."""\n'
    )
    return _module("Tables of all commands and events", [version, tables(protocol)], imports)


def _package(homes: Mapping[str, str]) -> str:
    names = {**homes, **dict.fromkeys(("COMMANDS", "EVENTS", "EVENT_GATES", "SCHEMA_VERSION"), "tables")}
    imports = [
        f"from {PACKAGE}.{module} import {', '.join(name for name in names if names[name] == module)}"
        for module in dict.fromkeys(names.values())
    ]
    listed = ", ".join(f'"{name}"' for name in sorted(names))
    return _module("Messages, data types and tables of the whole protocol", [f"__all__ = [{listed}]\n"], imports)


def _imports(used: Iterable[str], homes: Mapping[str, str], blocks: list[str]) -> list[str]:
    """Write the imports of a module; names without a home are its own."""
    sources: dict[str, list[str]] = {}
    for name in sorted(used):
        if name in _BASES:
            sources.setdefault("dapkit.protocol.base", []).append(name)
        elif name in RANGES.values():
            sources.setdefault("dapkit.protocol.numbers", []).append(name)
        elif name in homes:
            sources.setdefault(f"{PACKAGE}.{homes[name]}", []).append(name)
    text = "".join(blocks)
    lines = ["from typing import Literal", ""] if "Literal[" in text else []
    lines += ["from msgspec import field", ""] if "field(" in text else []
    return lines + [f"from {module} import {', '.join(names)}" for module, names in sources.items()]


def _module(about: str, blocks: Iterable[str], imports: Iterable[str]) -> str:
    return f'"""{about}.\n\n{BANNER}"""\n\n' + "\n".join(imports) + "\n\n\n" + "\n\n".join(blocks)


def _settle(homes: dict[str, str], names: Iterable[str], module: str) -> None:
    for name in names:
        if name in homes:
            raise SchemaError(f"two definitions would be named {name}, in {homes[name]} and in {module}")
        homes[name] = module


def _check_places(protocol: Protocol) -> None:
    """Refuse a definition without place, and a place without definition."""
    types = [item.name for item in protocol.objects] + [item.name for item in protocol.enumerations]
    commands = [command.name for command in protocol.commands]
    placed_types = [name for topic in TOPICS for name in topic.types] + list(EVENT_TYPES)
    placed_commands = [name for topic in TOPICS for name in topic.commands]
    for what, defined, known in (
        ("data types and tools/generate/topics.py", types, placed_types),
        ("commands and tools/generate/topics.py", commands, placed_commands),
    ):
        if different := set(defined) ^ set(known):
            raise SchemaError(f"{what} differ in {', '.join(sorted(different))}")
        if len(known) != len(defined):
            raise SchemaError(f"{what}: something stands there twice")


def formatted(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Format with the project's own settings, import order included."""
    config = ["--config", str(_ROOT / "pyproject.toml"), "--config", 'lint.isort.known-first-party = ["dapkit"]']
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        subprocess.run([*ruff, "check", "--quiet", "--select", "I,RUF022", "--fix", *config, folder], check=True)
        subprocess.run([*ruff, "format", "--quiet", *config, folder], check=True)
        return {name: Path(folder, name).read_text(encoding="utf-8") for name in sorted(texts)}
