"""How adapters are told to run a program in a terminal of ours."""

from collections.abc import Mapping

from dapkit.agent.failures import Unsupported
from dapkit.catalog import Choice

_BY_OWN_KEY: Mapping[str, Mapping[str, object]] = {
    "dapkit": {"console": "integratedTerminal"},
    "lldb-dap": {"runInTerminal": True},
    "codelldb": {"terminal": "integrated"},
}


_LLDB_STAYS_OFFLINE = {"preRunCommands": ["?settings clear plugin.symbol-locator.debuginfod.server-urls"]}
"""LLDB attaches to a process of its own that becomes the program, and would first ask servers for the symbols of
every library in that: some 15 seconds where they cannot be reached, of the 20 that it gives itself for the start."""


def in_terminal(choice: Choice) -> Mapping[str, object]:
    """Return the keys of the launch request that ask for a terminal.

    Raises:
        Unsupported: the adapter has no terminals.

    """
    adapter = choice.definition
    has_own = "DEBUGINFOD_URLS" in choice.env or "preRunCommands" in adapter.launch
    if adapter.name == "lldb-dap" and not has_own:
        return {**_BY_OWN_KEY[adapter.name], **_LLDB_STAYS_OFFLINE}
    if adapter.name in _BY_OWN_KEY:
        return _BY_OWN_KEY[adapter.name]
    if "console" in adapter.launch:
        return {"console": "integratedTerminal"}
    raise Unsupported("programs in a terminal", "runInTerminal")
