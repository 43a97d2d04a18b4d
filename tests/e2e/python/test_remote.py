"""Programs that other machines reach: TLS, and containers with a network and files of their own."""

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from dapkit.adapter import RequestFailed
from dapkit.client import Session
from dapkit.protocol import OutputEvent, SourceArguments
from dapkit.python.adapter.configuration.arguments import ProgramAddress
from dapkit.python.adapter.configuration.certificates import client_context, server_context
from dapkit.transport import NotAdmitted, Unreachable, connect_tcp
from e2e.python.adapter_client import ADAPTER
from e2e.python.listening_program import SOURCES, Listening, client, running_command
from missing import missing

pytestmark = pytest.mark.row("attach")

CERTIFICATES = Path(__file__).parent / "certificates"
"""Made for `localhost`, 127.0.0.1 and 10.77.0.2, valid for a hundred years, and vouching for nothing but themselves."""

SHOWN, KEY, ANOTHER = (str(CERTIFICATES / name) for name in ("certificate.pem", "key.pem", "another.pem"))
TOKEN = "5e" * 32
SHOWN_WITH_KEY = "".join((CERTIFICATES / name).read_text() for name in ("key.pem", "certificate.pem"))

PROGRAM = """
    values = ["x" * 1000 for _ in range(300)]
    total = len(values)
    print(total)
"""


async def stop_and_look(session: Session, line: int) -> None:
    """Be stopped in the program, and have a large answer come."""
    stop = await session.next_stop()
    [frame, *_] = (await session.stack_trace(1)).stack_frames
    assert (stop.reason, frame.line) == ("breakpoint", line)
    [scope, *_] = (await session.scopes(frame.id)).scopes
    [values, *_] = [v for v in (await session.variables(scope.variables_reference)).variables if v.name == "values"]
    found = (await session.variables(values.variables_reference)).variables
    assert sum(len(each.value) for each in found) > 200_000


@pytest.mark.each_python
async def test_program_that_listens_speaks_tls_with_clients_that_trust_its_certificate(
    tmp_path: Path, python: str
) -> None:
    words = ["--listen", "0.0.0.0:0", "--tls-certificate", SHOWN, "--tls-key", KEY, "--wait-for-client"]
    with running_command(PROGRAM, tmp_path, [python, "-m", "dapkit", *words, "prog.py"]) as program:
        program.read_place()
        for host, authority, reason in (
            ("127.0.0.2", SHOWN, "not valid for '127.0.0.2'"),
            ("127.0.0.1", ANOTHER, "self-signed certificate"),
        ):
            trusted = client_context(ProgramAddress(port=program.port, tls_authority=authority))
            with pytest.raises(Unreachable, match=reason):
                await connect_tcp(host, program.port, token=TOKEN, tls=trusted)
        with pytest.raises(NotAdmitted):
            await connect_tcp("127.0.0.1", program.port, token=TOKEN)
        async with client() as session:
            await session.add_breakpoint(program.file, 2)
            await session.attach({"connect": {"port": program.port, "tlsAuthority": SHOWN}})
            await stop_and_look(session, 2)
            await session.resume()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
@pytest.mark.each_python
async def test_program_connects_by_tls_to_an_adapter_whose_certificate_it_trusts(tmp_path: Path, python: str) -> None:
    both = tmp_path / "both.pem"
    both.write_text(SHOWN_WITH_KEY)
    shown = {"port": 0, "tlsCertificate": str(both)}
    async with client() as session, anyio.create_task_group() as tasks:
        await session.add_breakpoint(tmp_path / "prog.py", 2)
        tasks.start_soon(session.attach, {"listen": shown})
        told = await session.wait_for(OutputEvent, since=0)
        port = told.output.partition("127.0.0.1', ")[2].partition(")")[0]
        for words, reason in (
            (["--tls-authority", ANOTHER], "certificate verify failed"),
            ([], "closed the connection"),
        ):
            command = [python, "-m", "dapkit", "--connect", port, *words, "prog.py"]
            with running_command(PROGRAM, tmp_path, command) as program:
                assert program.process.wait(30) == 1
                assert program.process.stderr is not None
                assert reason in program.process.stderr.read()
        command = [python, "-m", "dapkit", "--connect", port, "--tls-authority", SHOWN, "prog.py"]
        with running_command(PROGRAM, tmp_path, command) as program:
            await stop_and_look(session, 2)
            await session.resume()
            assert program.process.wait(30) == 0


def test_files_of_a_configuration_that_cannot_be_used_are_named() -> None:
    for place, reason in (
        (
            ProgramAddress(port=1, tls_authority="/nowhere.pem"),
            "tlsAuthority /nowhere.pem cannot be read: No such file",
        ),
        (ProgramAddress(port=1, tls_authority=KEY), f"tlsAuthority {KEY} cannot be read: "),
        (ProgramAddress(port=1, tls_certificate=SHOWN), "tlsCertificate belongs to listen"),
    ):
        with pytest.raises(RequestFailed, match=reason):
            client_context(place)
    for place, reason in (
        (ProgramAddress(port=1, tls_certificate=SHOWN), "cannot be used as tlsCertificate and tlsKey"),
        (ProgramAddress(port=1, tls_authority=SHOWN), "tlsAuthority belongs to connect"),
    ):
        with pytest.raises(RequestFailed, match=reason):
            server_context(place)


@pytest.mark.thorough
def test_certificates_that_cannot_be_used_are_named(tmp_path: Path, python: str) -> None:
    for call, error in (
        ("listen(tls_certificate='/nowhere')", "No such file"),
        (f"listen(tls_certificate={SHOWN!r}, tls_key={str(CERTIFICATES / 'another.pem')!r})", "SSLError"),
        ("listen(tls_key='/nowhere')", "ValueError: tls_key is of no use without tls_certificate"),
        ("listen('./socket', tls_certificate='/nowhere')", "ValueError: a unix socket needs no TLS"),
    ):
        answer = subprocess.run(
            [python, "-c", f"import dapkit\ndapkit.{call}"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(SOURCES)},
            check=False,
            capture_output=True,
            text=True,
        )
        assert error in answer.stderr.splitlines()[-1], (call, answer.stderr)


# Containers: a network and files of their own, as far as the kernel makes them

TREE = (Path(__file__).parents[3] / ".tools" / "trees" / "sid").resolve()
ADDRESS = "10.77.0.2"
_UNSHARE, _NSENTER = "/usr/bin/unshare", "/usr/bin/nsenter"

INSIDE = """
ip link set lo up
tree=$1 root=$2/root
mkdir "$root"
mount -t tmpfs none "$root"
mkdir -p "$root/usr" "$root/proc" "$root/mnt/src" "$root/mnt/app" "$root$tree"
ln -s usr/lib usr/lib64 usr/bin "$root"
mount --bind "$tree/usr" "$root/usr"
mount --bind "$tree" "$root$tree"
mount --bind /proc "$root/proc"
mount --bind "$3" "$root/mnt/src"
mount --bind "$2/app" "$root/mnt/app"
echo ready
read go
shift 3
cd /
exec env PYTHONPATH=/mnt/src chroot "$root" /usr/bin/python3.14 -m dapkit "$@"
"""
"""The programs of the tree are linked with libraries where they lie outside of it."""

APP = """
    import json
    def price(text):
        parsed = json.loads(text)
        return parsed["price"]
    print(price('{"price": 3}'))
"""


def _need_namespaces() -> None:
    if subprocess.run([_UNSHARE, "--net", "--mount", "true"], check=False).returncode:
        pytest.skip("the kernel makes no namespaces for us")


@contextmanager
def network() -> Iterator[int]:
    """Make a network of its own; yield a process that is in it."""
    with subprocess.Popen(
        [_UNSHARE, "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process.pid
        process.kill()


@contextmanager
def container(folder: Path, net: int, *words: str) -> Iterator[Listening]:
    """Run `python -m dapkit` in a container whose network is connected with another; its files are those of a tree."""
    process = subprocess.Popen(
        [_UNSHARE, "--net", "--mount", "sh", "-ec", INSIDE, "sh", str(TREE), str(folder), str(SOURCES), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        program = Listening(process, folder / "app" / "prog.py")
        try:
            assert program.line() == "ready"
            inside(net, f"ip link add debugger type veth peer name program netns {process.pid}")
            inside(net, "ip addr add 10.77.0.1/30 dev debugger")
            inside(net, "ip link set debugger up")
            inside(process.pid, f"ip addr add {ADDRESS}/30 dev program")
            inside(process.pid, "ip link set program up")
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            yield program
        finally:
            process.kill()


def inside(net: int, command: str) -> None:
    """Run a command in the network of a process."""
    subprocess.run([_NSENTER, "--net", f"--target={net}", *command.split()], check=True)


@pytest.mark.thorough
@pytest.mark.usefixtures("root")
async def test_program_in_a_container_is_debugged_with_the_files_of_the_client(tmp_path: Path) -> None:
    _need_namespaces()
    if not (TREE / "usr/bin/python3.14").exists():
        missing("there is no tree with Python 3.14: tools/debian_trees.sh makes it")
    app = tmp_path / "app"
    app.mkdir()
    (app / "prog.py").write_text(textwrap.dedent(APP).lstrip("\n"))
    for name in ("certificate.pem", "key.pem"):
        shutil.copy(CERTIFICATES / name, app)
    token = app / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    at = "/mnt/app"
    words = [
        *("--listen", f"{ADDRESS}:5678", "--wait-for-client", "--token-file", f"{at}/token"),
        *("--tls-certificate", f"{at}/certificate.pem", "--tls-key", f"{at}/key.pem", f"{at}/prog.py"),
    ]
    with network() as net, container(tmp_path, net, *words) as program:
        program.read_place()
        command = (_NSENTER, "--net", f"--target={net}", *ADAPTER)
        async with Session.spawn(command) as session:
            await session.add_breakpoint(app / "prog.py", 3)
            await session.attach(
                {
                    "connect": {"host": ADDRESS, "port": 5678, "tokenFile": str(token), "tlsAuthority": SHOWN},
                    "pathMappings": [{"localRoot": str(app), "remoteRoot": at}],
                    "justMyCode": False,
                }
            )
            await session.next_stop()
            [frame, *_] = (await session.stack_trace(1)).stack_frames
            assert frame.source is not None
            assert (frame.source.path, frame.line) == (str(app / "prog.py"), 3)
            await session.step_in(1)
            await session.next_stop()
            [frame, caller, *_] = (await session.stack_trace(1)).stack_frames
            assert (frame.name, caller.name) == ("loads", "price")
            assert frame.source is not None
            assert frame.source.path == "/usr/lib/python3.14/json/__init__.py"
            number = frame.source.source_reference
            assert number
            text = await session.request(SourceArguments(source=frame.source, source_reference=number))
            assert "def loads(" in text.content
            assert session.violations == ()
            await session.resume()
        assert program.line() == "3"
        assert program.process.wait(30) == 0


@pytest.mark.thorough
@pytest.mark.usefixtures("root")
async def test_files_that_only_the_other_machine_has_are_shown_by_reference_without_a_mapping(tmp_path: Path) -> None:
    """A folder of its own, in a mount namespace, stands for the other machine."""
    _need_namespaces()
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (tmp_path / "prog.py").write_text("raise SystemExit(3)\n")
    script = 'mount -t tmpfs none "$1"; cp "$2" "$1"; cd "$1"; shift 2; exec "$@"'
    module = [sys.executable, "-m", "dapkit", "--listen", "0", "--wait-for-client", "prog.py"]
    command = [_UNSHARE, "--mount", "sh", "-ec", script, "sh", str(hidden), str(tmp_path / "prog.py"), *module]
    with running_command("raise SystemExit(3)\n", tmp_path, command) as program:
        program.read_place()
        async with client() as session:
            await session.break_on_exceptions("raised")
            await session.attach(program.connect)
            await session.next_stop()
            [frame, *_] = (await session.stack_trace(1)).stack_frames
            assert frame.source is not None
            assert frame.source.path == str(hidden / "prog.py")
            number = frame.source.source_reference
            assert number
            text = await session.request(SourceArguments(source=frame.source, source_reference=number))
            assert text.content == "raise SystemExit(3)\n"
            await session.resume()
        assert program.process.wait(30) == 3
