"""Queries parsed, rewritten and printed for other databases by sqlglot."""

import sqlglot
from sqlglot import exp

QUERIES = [
    "SELECT a, SUM(b) AS total FROM t WHERE c > 3 GROUP BY a HAVING SUM(b) > 10 ORDER BY total DESC LIMIT 5",
    "WITH x AS (SELECT id, name FROM users) SELECT x.name, o.price FROM x JOIN orders AS o ON x.id = o.user_id",
    "SELECT CASE WHEN a IS NULL THEN 0 ELSE a END, DATE_ADD(d, INTERVAL 1 DAY) FROM t",
]
s_texts, s_tables = [], []
for query in QUERIES:
    tree = sqlglot.parse_one(query, read="mysql")
    s_tables.append(sorted({table.name for table in tree.find_all(exp.Table)}))
    renamed = tree.transform(
        lambda node: exp.to_identifier("z") if isinstance(node, exp.Identifier) and node.name == "a" else node
    )
    for dialect in ("duckdb", "spark", "postgres"):
        s_texts.append(renamed.sql(dialect=dialect))
try:
    s_problem = sqlglot.parse_one("SELECT FROM WHERE").sql()
except sqlglot.ParseError as error:
    s_problem = type(error).__name__
s_length = sum(map(len, s_texts))
print(s_tables, s_texts[-1], s_problem, s_length)
