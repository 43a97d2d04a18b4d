from catalog_table import PAGE, with_table
from dapkit.catalog.files import built_in


def test_page_says_what_the_definitions_do() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run python tools/catalog_table.py"


def test_page_lists_every_adapter() -> None:
    page = with_table(PAGE.read_text(encoding="utf-8"))
    assert all(f"| `{name}` |" in page for name in built_in())
