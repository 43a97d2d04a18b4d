"""The bootstrap: which uv, which interpreter."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

import bootstrap

THIS = f"{sys.version_info.major}.{sys.version_info.minor}"


def lock_of(wheels: dict[str, str]) -> str:
    entries = "".join(
        f'    {{ url = "{url}", hash = "sha256:{digest}", size = 1 }},\n' for url, digest in wheels.items()
    )
    return (
        '[[package]]\nname = "urllib3"\nversion = "2.0"\n\n'
        f'[[package]]\nname = "uv"\nversion = "9.8.7"\nwheels = [\n{entries}]\n\n'
        '[[package]]\nname = "wheel"\nversion = "1.0"\nwheels = [\n'
        f'    {{ url = "http://localhost/wheel.whl", hash = "sha256:{"f" * 64}", size = 1 }},\n]\n'
    )


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_release_of_uv_is_read_from_the_lock_file() -> None:
    locked = bootstrap.locked_uv(lock_of({"http://localhost/uv-9.8.7-a.whl": "a" * 64}))

    assert locked == bootstrap.LockedUv("9.8.7", {"http://localhost/uv-9.8.7-a.whl": "a" * 64})


def test_lock_file_of_this_repository_has_wheels_of_uv_for_the_usual_platforms() -> None:
    locked = bootstrap.locked_uv((bootstrap.ROOT / "uv.lock").read_text())

    for system, machine, libc in [
        ("Linux", "x86_64", "glibc"),
        ("Linux", "aarch64", "glibc"),
        ("Linux", "x86_64", ""),
        ("Darwin", "arm64", ""),
    ]:
        assert bootstrap.wheel_for(locked, system=system, machine=machine, libc=libc) in locked.files


def test_platform_without_a_wheel_is_told_what_to_do() -> None:
    locked = bootstrap.LockedUv("9.8.7", {"http://localhost/uv-9.8.7-py3-none-manylinux_2_17_x86_64.whl": "a" * 64})

    with pytest.raises(bootstrap.BootstrapError, match="no wheel for Linux on sparc64; install pip"):
        bootstrap.wheel_for(locked, system="Linux", machine="sparc64", libc="glibc")


def make_wheel(folder: Path) -> Path:
    wheels = [f"uv-9.8.7-py3-none-{tag}.whl" for tag in ("manylinux_x", "musllinux_x", "macosx_x")]
    with zipfile.ZipFile(folder / wheels[0], "w") as archive:
        archive.writestr("uv/__init__.py", "")
        archive.writestr("uv-9.8.7.data/scripts/uv", "the program")
    return folder / wheels[0]


def test_uv_is_taken_out_of_the_wheel_that_the_lock_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(bootstrap, "wheel_for", lambda _locked, **_platform: wheel.as_uri())

    found = bootstrap.download(bootstrap.LockedUv("9.8.7", {wheel.as_uri(): digest}), tmp_path)

    assert found.read_text() == "the program"


def test_wheel_with_another_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path)
    monkeypatch.setattr(bootstrap, "wheel_for", lambda _locked, **_platform: wheel.as_uri())

    with pytest.raises(bootstrap.BootstrapError, match="lock expects 0000"):
        bootstrap.download(bootstrap.LockedUv("9.8.7", {wheel.as_uri(): "0" * 64}), tmp_path)


def test_running_interpreter_is_recognised() -> None:
    path = bootstrap.probe(Path(sys.executable), THIS)

    assert path is not None
    assert Path(path).resolve() == Path(sys.executable).resolve()


def test_shim_that_refuses_is_passed_over(tmp_path: Path) -> None:
    shim = program(tmp_path / "python3.13", "#!/bin/sh\necho 'version 3.13 is not installed' >&2\nexit 1\n")

    assert bootstrap.probe(shim, "3.13") is None


def test_interpreter_of_another_version_is_passed_over() -> None:
    assert bootstrap.probe(Path(sys.executable), "3.8") is None


def test_free_threaded_interpreter_is_a_version_of_its_own(tmp_path: Path) -> None:
    as_one = f'#!/bin/sh\nexec {sys.executable} -I -c "import sys; sys.abiflags = \'t\'; exec(sys.argv[2])" -- "$3"\n'
    free_threaded = program(tmp_path / f"python{THIS}", as_one)

    assert bootstrap.probe(free_threaded, THIS) is None
    assert bootstrap.probe(free_threaded, f"{THIS}t") is not None


def test_interpreter_behind_a_refusing_shim_is_found_in_its_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims, versions = tmp_path / "shims", tmp_path / "versions"
    shims.mkdir()
    (versions / "any/bin").mkdir(parents=True)
    program(shims / f"python{THIS}", "#!/bin/sh\nexit 127\n")
    program(versions / "any/bin" / f"python{THIS}", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setattr(bootstrap, "FOLDERS", ())
    monkeypatch.setattr(bootstrap, "COLLECTIONS", (str(versions),))

    found = bootstrap.find_interpreter(THIS)

    assert found is not None
    assert Path(found).resolve() == Path(sys.executable).resolve()


def test_newest_interpreter_of_a_collection_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.13.9", "3.13.10"):
        (tmp_path / version / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(bootstrap, "FOLDERS", ())
    monkeypatch.setattr(bootstrap, "COLLECTIONS", (str(tmp_path),))

    assert next(bootstrap.candidates("3.13")) == tmp_path / "3.13.10/bin/python3.13"
