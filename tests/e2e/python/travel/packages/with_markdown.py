"""Pages of Markdown with extensions."""

import markdown

s_source = "\n\n".join(
    f"# Title {number}\n\nSome *text* with `code{number}` and a [link](#{number}).\n\n| a | b |\n| - | - |\n| {number} | {number * 2} |"
    for number in range(5)
)
converter = markdown.Markdown(extensions=["tables", "toc", "fenced_code"])
s_page = converter.convert(s_source)
s_names = [token["name"] for token in converter.toc_tokens]
s_tables = s_page.count("<table>")
s_length = len(s_page)
print(s_names, s_tables, s_length)
