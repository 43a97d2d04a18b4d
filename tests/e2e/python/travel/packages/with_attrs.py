"""Classes of attrs: validators, converters, comparison, and instances made of others."""

import attrs


@attrs.define(order=True)
class Item:
    name: str = attrs.field(converter=str.strip)
    price: int = attrs.field(validator=attrs.validators.ge(0))
    tags: list = attrs.field(factory=list)

    @property
    def text(self):
        return f"{self.name}:{self.price}"


s_items = [Item(f" item{number % 7} ", number * 3 % 11) for number in range(40)]
s_refused = 0
for number in range(-3, 3):
    try:
        s_items.append(Item("more", number))
    except ValueError:
        s_refused += 1
s_items.sort()
s_cheaper = [attrs.evolve(item, price=item.price // 2) for item in s_items if item.price > 4]
s_texts = [item.text for item in s_cheaper]
s_whole = attrs.asdict(s_items[-1])
print(s_refused, len(s_texts), s_texts[:3], s_whole)
