"""Entry of `python -m dapkit.cli`."""

from dapkit.system import safe_import_path  # noqa: F401 - before anything else is imported

# isort: split
from dapkit.cli.entry import main

if __name__ == "__main__":
    main()
