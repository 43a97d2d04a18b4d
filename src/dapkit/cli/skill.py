"""`dapkit skill`: the page that teaches an agent when and how to use dapkit."""

import click


@click.command(epilog="Example: dapkit skill > SKILL.md")
def skill() -> None:
    """Print the page that teaches an agent when and how to use dapkit."""
    from dapkit.agent.skill import text

    click.echo(text(), nl=False)
