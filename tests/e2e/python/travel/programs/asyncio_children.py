"""asyncio: child processes whose output comes by pipes, one that is killed, one that fails."""

import asyncio
import sys
import time

s_output = []
s_codes = []


async def child(number):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"print({number}); print(input())",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate(b"asked %d\n" % number)
    s_output.append((number, output, process.pid))
    s_codes.append(process.returncode)


async def main():
    await asyncio.gather(*(child(i) for i in range(5)))
    process = await asyncio.create_subprocess_exec("sleep", "10")
    await asyncio.sleep(0.05)
    process.kill()
    s_codes.append(await process.wait())
    process = await asyncio.create_subprocess_shell("echo gone >&2; exit 3", stderr=asyncio.subprocess.PIPE)
    s_output.append((await process.communicate())[1])
    s_codes.append(process.returncode)


begin = time.monotonic()
asyncio.run(main())
s_time = time.monotonic() - begin
