"""Values that are made while exceptions pass."""

import contextlib


def fails(n):
    made = n
    raise ValueError(made)


def cleans(log):
    try:
        fails(1)
    finally:
        log.append("cleaned")


def handled():
    try:
        return fails(2)
    except ValueError as error:
        text = str(error)
        return text


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.reason = str(reason[1])
        return True


log = []
handled_text = handled()
try:
    cleans(log)
except ValueError as error:
    caught = error.args[0]
try:
    value = fails(3)
except ValueError:
    value = "default"
else:
    value = "never"
finally:
    finished = True
with Swallows() as swallows:
    fails(4)
with contextlib.suppress(ValueError):
    suppressed = 1
    suppressed = fails(5)
kept = 0
for n in range(3):
    try:
        kept += 1
        fails(n)
    except ValueError:
        continue
text = "".join(str(n) for n in [1, 2] if not isinstance(handled(), int))
try:
    int("x")
except ValueError as error:
    message = str(error)[:7]
print("end")
# watch: len(log), swallows.reason
