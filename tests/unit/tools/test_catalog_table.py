from catalog_table import PAGE, page
from dapkit.catalog.files import built_in


def test_page_says_what_the_definitions_do() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tools/catalog_table.py"


def test_page_lists_every_adapter() -> None:
    assert all(f"| `{name}` |" in page() for name in built_in())
