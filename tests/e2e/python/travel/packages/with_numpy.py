"""Arrays of numpy: products with OpenBLAS, statistics, and random numbers of a seed."""

import numpy

generator = numpy.random.default_rng(5)
s_matrix = generator.random((60, 60))
s_traces = []
current = s_matrix
for _ in range(6):
    current = current @ s_matrix
    current /= current.max()
    s_traces.append(round(float(numpy.trace(current)), 6))
s_solution = numpy.linalg.solve(s_matrix, numpy.ones(60)).round(6).tolist()[:3]
s_histogram = numpy.histogram(generator.normal(size=500), bins=5)[0].tolist()
s_sorted = numpy.sort(generator.integers(0, 100, 20)).tolist()
s_mean = round(float(s_matrix.mean()), 9)
print(s_traces, s_histogram, s_mean)
