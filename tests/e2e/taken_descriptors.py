"""A program that closes all its descriptors and uses their numbers for a file of its own."""

TAKES_ALL = """\
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
numbers = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]
for number in numbers:
    try:
        os.close(number)
    except OSError:
        continue  # that of the listing
file = os.open("mine", os.O_RDWR | os.O_CREAT)
for number in numbers:
    os.dup2(file, number)
"""
"""It needs `os` and `resource`."""
