"""A calculator with a grammar of lark."""

from lark import Lark, Transformer, UnexpectedInput, v_args

GRAMMAR = """
    ?start: sum | NAME "=" sum -> assign
    ?sum: product | sum "+" product -> add | sum "-" product -> sub
    ?product: atom | product "*" atom -> mul | product "/" atom -> div
    ?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
    %import common.CNAME -> NAME
    %import common.NUMBER
    %import common.WS_INLINE
    %ignore WS_INLINE
"""


@v_args(inline=True)
class Calculate(Transformer):
    from operator import add, mul, neg, sub, truediv as div

    number = float

    def __init__(self):
        super().__init__()
        self.names = {}

    def assign(self, name, value):
        self.names[str(name)] = value
        return value

    def var(self, name):
        return self.names[str(name)]


calculate = Calculate()
parser = Lark(GRAMMAR, parser="lalr", transformer=calculate)
s_results = []
for text in ("a = 3 + 4 * 2", "b = (a - 1) / 2", "-b * (a + 2)", "a - b - 1", "3 +"):
    try:
        s_results.append(parser.parse(text))
    except UnexpectedInput as error:
        s_results.append(type(error).__name__)
s_names = dict(calculate.names)
s_count = len(s_results)
print(s_results, s_names, s_count)
