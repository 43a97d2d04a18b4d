"""Parses and translates queries."""

import sqlglot

QUERY = "SELECT a, COUNT(*) AS n FROM t JOIN u USING (id) WHERE a > {} GROUP BY a HAVING n > 3 ORDER BY 2"

for number in range(60):
    tree = sqlglot.parse_one(QUERY.format(number))
print(sqlglot.transpile(tree.sql(), read="mysql", write="duckdb")[0])
