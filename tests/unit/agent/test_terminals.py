"""How adapters are told to run a program in a terminal."""

from pathlib import Path

import pytest

from dapkit.agent.failures import Unsupported
from dapkit.agent.terminals import in_terminal
from dapkit.catalog import Choice
from dapkit.catalog.files import built_in


def chosen(adapter: str, **env: str) -> Choice:
    return Choice(definition=built_in()[adapter], command=(), reasons=(), cwd=Path("/"), env=env)


@pytest.mark.parametrize("adapter", ["dapkit", "debugpy"])
def test_python_adapters_have_a_key_for_it(adapter: str) -> None:
    assert in_terminal(chosen(adapter)) == {"console": "integratedTerminal"}


def test_lldb_asks_no_servers_for_symbols_unless_the_user_named_some() -> None:
    commands = ["?settings clear plugin.symbol-locator.debuginfod.server-urls"]
    assert in_terminal(chosen("lldb-dap")) == {"runInTerminal": True, "preRunCommands": commands}
    assert in_terminal(chosen("lldb-dap", DEBUGINFOD_URLS="https://symbols.example")) == {"runInTerminal": True}


def test_an_adapter_without_terminals_is_refused() -> None:
    with pytest.raises(Unsupported, match="programs in a terminal"):
        in_terminal(chosen("gdb"))
