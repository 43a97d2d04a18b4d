"""A command line of click, run with good and bad arguments."""

import click
from click.testing import CliRunner


@click.group()
@click.option("--loud/--quiet", default=False)
@click.pass_context
def shop(context, loud):
    context.obj = {"loud": loud}


@shop.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--times", type=click.IntRange(1, 5), default=1)
@click.pass_obj
def greet(settings, names, times):
    for _ in range(times):
        for name in names:
            text = f"hello {name}"
            click.echo(text.upper() if settings["loud"] else text)


s_runner = CliRunner()
s_results = []
for arguments in (
    ["greet", "ann"],
    ["--loud", "greet", "bo", "cy", "--times", "3"],
    ["greet"],
    ["greet", "x", "--times", "9"],
    ["--help"],
):
    result = s_runner.invoke(shop, arguments)
    s_results.append((result.exit_code, result.output.splitlines()[-1:]))
s_codes = [code for code, _ in s_results]
print(s_codes, s_results[1])
