"""An exception that is swallowed: a wrong setting counts as the default."""

DEFAULTS = {"workers": "4", "timeout": "30"}


def number(text):
    try:
        return int(text)
    except ValueError:
        return 0


def read(lines):
    settings = dict(DEFAULTS)
    for line in lines:
        name, _, text = line.partition("=")
        settings[name.strip()] = text.strip()
    return {name: number(text) for name, text in settings.items()}


def run(settings):
    return 60 // settings["timeout"] if settings["timeout"] else None


print(run(read(["workers = 8", "timeout = 3O"])))
