"""How adapters are told to run a program in a terminal of ours."""

from collections.abc import Mapping

from dapkit.agent.failures import Unsupported
from dapkit.catalog import AdapterDefinition

_BY_OWN_KEY: Mapping[str, Mapping[str, object]] = {
    "dapkit": {"console": "integratedTerminal"},
    "lldb-dap": {"runInTerminal": True},
    "codelldb": {"terminal": "integrated"},
}


def in_terminal(adapter: AdapterDefinition) -> Mapping[str, object]:
    """Return the keys of the launch request that ask for a terminal.

    Raises:
        Unsupported: the adapter has no terminals.

    """
    if adapter.name in _BY_OWN_KEY:
        return _BY_OWN_KEY[adapter.name]
    if "console" in adapter.launch:
        return {"console": "integratedTerminal"}
    raise Unsupported("programs in a terminal", "runInTerminal")
