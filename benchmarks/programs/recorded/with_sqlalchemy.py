"""Writes to a database in memory, and reads from it."""

from sqlalchemy import Column, Integer, MetaData, Table, create_engine, select

engine = create_engine("sqlite://")
metadata = MetaData()
table = Table("items", metadata, Column("id", Integer, primary_key=True), Column("price", Integer))
metadata.create_all(engine)
with engine.begin() as connection:
    connection.execute(table.insert(), [{"price": price} for price in range(300)])
    print(connection.execute(select(table.c.price).where(table.c.price > 290)).fetchall())
