"""Which files of the extension are made of which headers."""

from pathlib import Path

import pytest

import build_native


def headers(folder: Path, version: str) -> Path:
    major, minor = version.split(".")
    (folder / "Python.h").touch()
    (folder / "patchlevel.h").write_text(f"#define PY_MAJOR_VERSION\t{major}\n#define PY_MINOR_VERSION\t{minor}\n")
    return folder


def names(include: Path, *, with_gil: bool) -> list[str]:
    return [extension.name for extension in build_native.extensions(include, with_gil=with_gil)]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.12", []),
        ("3.13", [f"_native.{build_native.free_threaded_tag((3, 13))}.so"]),
        ("3.14", [f"_native.{build_native.free_threaded_tag((3, 14))}.so"]),
        ("3.15", ["_native.abi3t.so"]),
        ("3.16", ["_native.abi3t.so"]),
    ],
)
def test_free_threaded_builds_have_a_file_for_each_version_and_one_from_3_15_on(
    tmp_path: Path, version: str, expected: list[str]
) -> None:
    assert names(headers(tmp_path, version), with_gil=False) == expected


def test_name_of_a_file_for_one_version_has_the_t_behind_the_version() -> None:
    assert build_native.free_threaded_tag((3, 13)).startswith("cpython-313t-")


def test_one_file_is_for_all_builds_with_a_gil(tmp_path: Path) -> None:
    assert names(headers(tmp_path, "3.12"), with_gil=True)[0] == "_native.abi3.so"


def test_folder_without_headers_is_named(tmp_path: Path) -> None:
    with pytest.raises(build_native.CannotBuildError, match="there is no Python"):
        list(build_native.extensions(tmp_path, with_gil=True))
