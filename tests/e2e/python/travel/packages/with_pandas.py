"""Frames of pandas: groups, joins, and functions of our own."""

import pandas

s_orders = pandas.DataFrame(
    {"user": [number % 5 for number in range(40)], "price": [number * 7 % 23 for number in range(40)]}
)
s_users = pandas.DataFrame({"user": range(5), "name": list("abcde")})


def spread(prices):
    return prices.max() - prices.min()


s_groups = s_orders.groupby("user")["price"].agg(["sum", "mean", spread])
s_joined = s_orders.merge(s_users, on="user").sort_values(["price", "name"])
s_names = s_joined.apply(lambda row: f"{row['name']}{row['price']}", axis=1).tolist()
s_pivot = s_joined.pivot_table(index="name", values="price", aggfunc="max")["price"].to_dict()
s_total = int(s_orders["price"].sum())
print(s_groups["sum"].tolist(), s_names[:4], s_pivot, s_total)
