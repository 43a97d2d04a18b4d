"""A document of lxml: paths, changes, and a check against a schema."""

from lxml import etree

s_root = etree.Element("shop")
for number in range(20):
    item = etree.SubElement(s_root, "item", id=str(number))
    etree.SubElement(item, "price").text = str(number * 3 % 7)
s_cheap = [item.get("id") for item in s_root.xpath("//item[price < 3]")]
for item in s_root.xpath("//item[price = 0]"):
    s_root.remove(item)
schema = etree.RelaxNG(
    etree.XML(
        '<element name="shop" xmlns="http://relaxng.org/ns/structure/1.0"><zeroOrMore><element name="item">'
        '<attribute name="id"/><element name="price"><text/></element></element></zeroOrMore></element>'
    )
)
s_valid = schema.validate(s_root)
s_text = etree.tostring(s_root)[:60].decode()
s_count = len(s_root)
print(s_cheap, s_valid, s_text, s_count)
