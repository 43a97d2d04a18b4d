"""Entry of `python -m dapkit.cli`."""

from dapkit.cli.entry import main

if __name__ == "__main__":
    main()
