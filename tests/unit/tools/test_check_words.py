"""The checks of words: what each of them finds, and that the code base passes them."""

from pathlib import Path

import pytest

from words.classes import duplicates, public_classes
from words.counts import counts_of, lowered, read_ceilings, too_many, write_ceilings
from words.members import missing_members
from words.modules import exists, missing_in_page, missing_modules
from words.phrases import bad_phrases, phrases_in
from words.prose import Passage
from words.terms import MOST, wrong_terms


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package of two modules."""
    package = tmp_path / "src/dapkit"
    (package / "hub").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "hub/__init__.py").write_text("from dapkit.hub.wire import Line\n")
    (package / "hub/wire.py").write_text("class Line:\n    first_line = 1\n")
    return package


def test_two_classes_of_one_name_are_found(package: Path) -> None:
    assert list(duplicates(package)) == []
    (package / "hub/other.py").write_text("class Line: ...\nclass _Own: ...\n")
    (package / "more.py").write_text("class _Own: ...\n")
    assert list(duplicates(package)) == [
        "Line is the name of 2 public classes: dapkit/hub/other.py, dapkit/hub/wire.py"
    ]


def test_classes_that_only_a_type_checker_sees_count_and_inner_ones_do_not() -> None:
    code = "if TYPE_CHECKING:\n    class Row: ...\nclass Table:\n    class Row: ...\n"
    assert list(public_classes(code)) == ["Row", "Table"]


@pytest.mark.parametrize(
    ("prose", "missing"),
    [
        ("See `dapkit.hub.wire`, `dapkit.hub.wire.Line` and `dapkit.hub.Line`.", []),
        ("See `dapkit.hub.front`.", ["dapkit.hub.front"]),
        ("See `dapkit.hub.wire.Letter`.", ["dapkit.hub.wire.Letter"]),
        ("As hub/wire.py has it, in `hub/`.", []),
        ("As connection/link.py has it, in `connection/`.", ["connection/link.py", "connection/"]),
        ("The handlers are in `requests_TOPIC`, the `Line` in `wire`.", ["requests_TOPIC"]),
        ("`firstLine` is what JSON calls `first_line`; `len` and `sys` are Python's, `PATH` is the user's.", []),
        ("A program such as `app.py`, tests/test_a.py or /usr/lib/python3/os.py.", []),
    ],
)
def test_names_that_stand_for_nothing_are_found(package: Path, prose: str, missing: list[str]) -> None:
    (package / "about.py").write_text(f'"""About.\n\n{prose}\n"""\n')
    found = [sentence.partition("there is no ")[2] for sentence in missing_modules(package)]
    assert found == missing


def test_names_in_comments_and_on_pages_are_checked(package: Path) -> None:
    (package / "about.py").write_text("X = 1  # as `gone` has it\n")
    assert list(missing_modules(package)) == ["src/dapkit/about.py:1: there is no gone"]
    page = package / "page.md"
    page.write_text("# Title\n\n`dapkit.hub.wire` and `dapkit.hub.gone`, with `words` of its own\n")
    assert list(missing_in_page(page, package)) == ["page.md:3: there is no dapkit.hub.gone"]


def test_pages_may_name_settings_of_the_extension(package: Path) -> None:
    (package.parent.parent / "editors/vscode").mkdir(parents=True)
    (package.parent.parent / "editors/vscode/package.json").write_text('{"dapkit.interpreter": {}}')
    page = package / "page.md"
    page.write_text("# Title\n\n`dapkit.interpreter` and `dapkit.compiler`\n")
    assert list(missing_in_page(page, package)) == ["page.md:3: there is no dapkit.compiler"]


def test_stub_of_an_extension_is_a_module(package: Path) -> None:
    (package / "hub/_fast.pyi").write_text("def run() -> None: ...\n")
    assert exists("dapkit.hub._fast", package)
    assert exists("dapkit.hub._fast.run", package)
    assert not exists("dapkit.hub._fast.walk", package)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Lines that cannot be read are told.", 1),
        ("It is told\n    once, and is no adapter.", 2),
        ("Whoever asks; it tells no exit code.", 2),
        ("It is no longer there, it is no more than that, and there is no doubt.", 0),
        ("Unreadable lines are reported.", 0),
    ],
)
def test_phrases_that_readers_stumble_over_are_found(text: str, phrases: int) -> None:
    assert len(list(phrases_in(Passage(1, text)))) == phrases


def test_phrases_are_looked_for_in_comments_and_texts_but_not_in_code(tmp_path: Path) -> None:
    file = tmp_path / "about.py"
    file.write_text("whoever = 1\n# whoever\nX = f'it is told {whoever}'\n")
    found = list(bad_phrases([file], tmp_path))
    assert [sentence.split(": ")[0] for sentence in found] == ["about.py:3", "about.py:2"]


def test_terms_are_counted_and_looked_for(package: Path) -> None:
    row = "| **line** | a message | `hub.wire` |\n"
    assert list(wrong_terms(row, package)) == []
    assert list(wrong_terms("no table", package)) == [f"the page has 0 terms, expected 1 to {MOST}"]
    many = "".join(row.replace("line", f"line {number}") for number in range(MOST + 1))
    assert list(wrong_terms(many, package)) == [f"the page has {MOST + 1} terms, expected 1 to {MOST}"]
    assert list(wrong_terms(row + row, package)) == ["line is explained twice"]
    assert list(wrong_terms("| **line** | a message | `hub.gone` |\n", package)) == ["line: there is no hub.gone"]
    assert list(wrong_terms("| **line** | a message | somewhere |\n", package)) == ["line: no module is named"]


def test_members_of_classes_that_do_not_exist_are_found(package: Path) -> None:
    (package / "hub/wire.py").write_text("class Base:\n    def read(self): ...\nclass Line(Base):\n    first = 1\n")
    page = package / "page.md"
    page.write_text(
        "`Line.first`, `Line.read()`, `Line.gone` and `Other.gone`\n`hub.wire.Line.read`, `hub.wire.Line.lost`\n"
    )
    missing = ["src/dapkit/page.md:1: Line has no gone", "src/dapkit/page.md:2: Line has no lost"]
    assert list(missing_members([page], package)) == missing


def test_words_of_a_file_are_counted_in_prose_and_names(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    prose = '"""Have what there is counted."""\n# nobody; that of it\n'
    names = 'found = "what"\ndef f(given):\n    raise ValueError("it has none here")\n'
    file.write_text(prose + names)
    assert counts_of(file) == {"what": 1, "that of": 1, "nobody": 1, "is none": 1, "Have": 1, "participle": 2}
    page = tmp_path / "page.md"
    page.write_text("What is that?\n")
    assert counts_of(page) == {"what": 1}
    source = tmp_path / "module.c"
    source.write_text("#include <what.h>\nint what; /* what it is */\n")
    assert counts_of(source) == {"what": 1}


def test_ceilings_fall_and_do_not_rise(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("What and what.\n")
    assert list(too_many([file], tmp_path, {})) == ['a.md: "what" 2 times, at most 0']
    assert list(too_many([file], tmp_path, {"a.md": {"what": 2}})) == []
    assert list(too_many([file], tmp_path, {"a.md": {"what": 3}})) == [
        'a.md: "what" 2 times, 3 allowed: python tools/check_words.py --lower'
    ]
    assert lowered([file], tmp_path, {"a.md": {"what": 3}, "gone.md": {"what": 1}}) == ({"a.md": {"what": 2}}, [])
    assert lowered([file], tmp_path, {"a.md": {"what": 1}}) == (
        {"a.md": {"what": 1}},
        ['a.md: "what" 2 times, at most 1'],
    )
    kept = tmp_path / "ceilings.json"
    write_ceilings({"a.md": {"what": 2}}, kept)
    assert read_ceilings(kept) == {"a.md": {"what": 2}}
