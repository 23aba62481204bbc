"""Reduces the graph of a file with NetworkX and prints the time in seconds and the edges left."""
import sys
import time

import networkx

with open(sys.argv[1]) as f:
    nodes, edges = map(int, f.readline().split())
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(tuple(map(int, line.split())) for line in f)
if graph.number_of_edges() != edges:
    sys.exit(f"{sys.argv[1]} is not a graph")
start = time.perf_counter()
reduced = networkx.transitive_reduction(graph)
print(time.perf_counter() - start)
for u, v in reduced.edges:
    print(u, v)
