"""`dapkit completion`: the script with which a shell completes commands, options and names of sessions."""

import click
from click.shell_completion import get_completion_class

_HELP = """Print the script that completes commands, options and sessions in SHELL.

\b
In ~/.bashrc:
  eval "$(dapkit completion bash)"
In ~/.zshrc, after compinit:
  eval "$(dapkit completion zsh)"
In ~/.config/fish/config.fish:
  dapkit completion fish | source
"""


@click.command(help=_HELP, epilog='Example: eval "$(dapkit completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print click's script for the shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"there is no completion for {shell}")
    from dapkit.cli.main import dapkit

    click.echo(kind(dapkit, {}, "dapkit", "_DAPKIT_COMPLETE").source())
