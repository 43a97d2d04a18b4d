"""`python -m dapkit.jupyter install`: have Jupyter offer a kernel for this interpreter whose debugger is dapkit's."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

KERNEL_CLASS = "dapkit.jupyter.kernel.DapkitKernel"
_NEEDED = "Jupyter's kernel is not installed for this interpreter: pip install 'dapkit[jupyter]'"


def install(name: str, display_name: str, prefix: str | None) -> str:
    """Install the description of a kernel, for the user or below a prefix; return its folder."""
    from ipykernel.kernelspec import write_kernel_spec
    from jupyter_client.kernelspec import KernelSpecManager

    with TemporaryDirectory() as folder:
        spec = Path(folder, name)
        write_kernel_spec(spec, extra_arguments=[f"--IPKernelApp.kernel_class={KERNEL_CLASS}"])
        described = json.loads((spec / "kernel.json").read_text())
        described["display_name"] = display_name
        described["metadata"] = {**described.get("metadata", {}), "debugger": True}
        (spec / "kernel.json").write_text(json.dumps(described, indent=1))
        return str(KernelSpecManager().install_kernel_spec(str(spec), name, user=prefix is None, prefix=prefix))


def main(words: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m dapkit.jupyter", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("install", help="install the kernel's description, for the user")
    command.add_argument("--name", default="dapkit", help="name of the kernel; default: %(default)s")
    command.add_argument("--display-name", default="Python (dapkit)", help="its name in notebooks; %(default)s")
    place = command.add_mutually_exclusive_group()
    place.add_argument("--prefix", help="install below this folder instead, such as a virtual environment")
    place.add_argument(
        "--sys-prefix", action="store_const", const=sys.prefix, dest="prefix", help="the same, in this Python"
    )
    options = parser.parse_args(words)
    try:
        folder = install(options.name, options.display_name, options.prefix)
    except ImportError:
        print(_NEEDED, file=sys.stderr)  # noqa: T201 - a command
        return 1
    print(f"installed {options.display_name} in {folder}")  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
