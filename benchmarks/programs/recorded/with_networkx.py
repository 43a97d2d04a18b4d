"""Computes with a graph."""

import networkx as nx

graph = nx.gnm_random_graph(120, 500, seed=3)
print(round(sum(nx.betweenness_centrality(graph).values()), 4))
