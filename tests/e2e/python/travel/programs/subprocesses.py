"""Other programs: run, spoken to, waited for; what they print and write to a file."""

import os
import subprocess
import tempfile
import time

s_results = []


def use(folder: str, number: int) -> None:
    run = subprocess.run(["/bin/echo", "hello", str(number)], capture_output=True, text=True, check=True)
    s_results.append((run.stdout, run.returncode))
    path = os.path.join(folder, "written")
    child = subprocess.Popen(
        ["/bin/sh", "-c", 'read line; echo "$line $$" > "$0"; exit 3', path], stdin=subprocess.PIPE, text=True
    )
    child.communicate("a line\n")
    with open(path) as file:
        s_results.append((child.pid, child.returncode, file.read()))
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdin.write(b"to cat")
        child.stdin.close()
        s_results.append(child.stdout.read())
    try:
        subprocess.run(["/nowhere/program"])
    except FileNotFoundError as error:
        s_results.append(str(error))
    s_results.append(os.system("exit 5"))
    with os.popen("echo from a shell") as pipe:
        s_results.append(pipe.read())
    spawned = os.posix_spawn("/bin/true", ["true"], os.environ)
    s_results.append(os.waitpid(spawned, 0))
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    s_results.append(sleeper.poll())
    sleeper.kill()
    s_results.append(sleeper.wait())


end = time.monotonic() + 0.4
with tempfile.TemporaryDirectory() as folder:
    number = 0
    while time.monotonic() < end:
        use(folder, number)
        number += 1
pass
