"""A page taken apart with Beautiful Soup."""

from bs4 import BeautifulSoup

s_page = "<html><body>" + "".join(
    f"<div class='row{number % 3}'><a href='/item/{number}'>item {number}</a><p>{number * number}</p></div>"
    for number in range(30)
)
soup = BeautifulSoup(s_page, "html.parser")
s_links = [link["href"] for link in soup.find_all("a") if link.text.endswith("7")]
s_sums = {}
for row in soup.select("div[class]"):
    kind = row["class"][0]
    s_sums[kind] = s_sums.get(kind, 0) + int(row.p.text)
for paragraph in soup.find_all("p"):
    paragraph.decompose()
s_left = len(soup.find_all(True))
s_text = soup.get_text(" ", strip=True)[:30]
print(s_links, s_sums, s_left, s_text)
