"""Tables, relations and queries of SQLAlchemy on SQLite."""

from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    orders: Mapped[list["Order"]] = relationship(back_populates="user")


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    price: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    user: Mapped[User] = relationship(back_populates="orders")


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    for number in range(12):
        user = User(name=f"user{number}")
        user.orders = [Order(price=number * other) for other in range(number % 4)]
        session.add(user)
    session.commit()
    rows = session.execute(
        select(User.name, func.count(Order.id), func.sum(Order.price))
        .join(User.orders)
        .group_by(User.id)
        .order_by(User.id)
    ).all()
    s_rows = [tuple(row) for row in rows]
    first = session.scalars(select(User).where(User.name == "user3")).one()
    first.orders[0].price = 99
    session.flush()
    s_changed = session.scalar(select(func.max(Order.price)))
    session.rollback()
    s_after = session.scalar(select(func.max(Order.price)))
s_count = len(s_rows)
print(s_rows[:3], s_changed, s_after, s_count)
