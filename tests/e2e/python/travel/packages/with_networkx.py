"""Paths and centrality in a graph of networkx, with a weight function of our own."""

import random

import networkx

s_graph = networkx.gnm_random_graph(40, 120, seed=7)
chance = random.Random(3)
for one, other in s_graph.edges:
    s_graph.edges[one, other]["weight"] = chance.randint(1, 9)


def weight(one, other, data):
    return data["weight"] + (one + other) % 3


s_lengths = []
for target in range(1, 12):
    path = networkx.dijkstra_path(s_graph, 0, target, weight=weight)
    s_lengths.append(sum(weight(a, b, s_graph.edges[a, b]) for a, b in zip(path, path[1:])))
s_central = networkx.betweenness_centrality(s_graph)
s_best = max(s_central, key=s_central.get)
s_colours = networkx.greedy_color(s_graph)
s_count = len(set(s_colours.values()))
print(s_lengths, s_best, round(s_central[s_best], 4), s_count)
