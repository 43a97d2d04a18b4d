"""Values that come from libraries which call back, and which are large."""

import attrs
import jinja2
import pydantic
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "items"
    id: Mapped[int] = mapped_column(primary_key=True)
    price: Mapped[int]


class Order(pydantic.BaseModel):
    size: int

    @pydantic.field_validator("size")
    @classmethod
    def _positive(cls, value):
        checked = abs(value)
        return checked


@attrs.define
class Box:
    weight: int = attrs.field(converter=lambda value: int(value) + 1)


order = Order(size=-3)
size = order.size
box = Box("4")
weight = box.weight
rendered = jinja2.Template("{{ f(2) }} and {{ n }}").render(f=lambda n: n * 2, n=3)
engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all([Item(id=1, price=5), Item(id=2, price=7)])
    session.commit()
    prices = [item.price for item in session.scalars(select(Item).order_by(Item.id))]
    total = sum(prices)
    changed = session.get(Item, 1)
    changed.price = 9
    session.commit()
    read_again = session.get(Item, 1).price
print("end")
