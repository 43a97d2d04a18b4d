"""Entry of `python -m dapkit.cli`."""

from dapkit.cli.main import main

if __name__ == "__main__":
    main()
