"""`dapkit completion`: what a shell needs to complete commands, options and names of sessions."""

import click
from click.shell_completion import get_completion_class


@click.command(epilog='Example: eval "$(dapkit completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the script that completes commands, options and sessions in SHELL.

    \b
      bash   eval "$(dapkit completion bash)"           in ~/.bashrc
      zsh    eval "$(dapkit completion zsh)"            in ~/.zshrc
      fish   dapkit completion fish | source            in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"there is no completion for {shell}")
    from dapkit.cli.main import dapkit

    click.echo(kind(dapkit, {}, "dapkit", "_DAPKIT_COMPLETE").source())
