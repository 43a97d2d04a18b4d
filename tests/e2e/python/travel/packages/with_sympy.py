"""Algebra with sympy: equations, derivatives, series."""

import sympy

x, y = sympy.symbols("x y")
s_roots = [str(root) for root in sympy.solve(x**3 - 6 * x**2 + 11 * x - 6, x)]
s_system = {str(key): str(value) for key, value in sympy.solve([x + y - 5, x - y - 1], [x, y]).items()}
s_derivative = str(sympy.diff(sympy.sin(x) * sympy.exp(x), x))
s_series = str(sympy.series(sympy.cos(x), x, 0, 8))
s_factors = str(sympy.factor(x**4 - 1))
s_sum = str(sympy.summation(y**2, (y, 1, 10)))
s_matrix = str(sympy.Matrix([[1, 2], [3, 4]]).inv())
s_text = " ".join((s_roots[-1], s_derivative, s_series, s_factors, s_sum, s_matrix))
print(s_roots, s_system, s_text)
