"""A chain of one-way constraints that are planned anew at each change, as the benchmark DeltaBlue does."""

import enum
import random


class Strength(enum.IntEnum):
    REQUIRED = 0
    PREFERRED = 2
    DEFAULT = 4
    WEAKEST = 6


class Variable:
    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.constraints = []
        self.determined_by = None
        self.strength = Strength.WEAKEST
        self.mark = 0

    def __repr__(self):
        return f"{self.name}={self.value}"


class Equal:
    def __init__(self, first, second, strength=Strength.REQUIRED, scale=1, offset=0):
        self.ends = first, second
        self.strength, self.scale, self.offset = strength, scale, offset
        self.output = None
        for variable in self.ends:
            variable.constraints.append(self)

    def choose(self, mark):
        self.output = None
        for output, other in (self.ends[::-1], self.ends):
            if output.mark != mark and self.strength < output.strength and other.mark == mark:
                self.output = output
        return self.output is not None

    def execute(self):
        first, second = self.ends
        if self.output is second:
            second.value = first.value * self.scale + self.offset
        else:
            first.value = (second.value - self.offset) // self.scale


class Edit:
    def __init__(self, variable):
        self.variable = variable
        self.values = iter(random.Random(3).choices(range(1000), k=500))

    def plan(self, mark):
        self.variable.mark = mark
        plan, reached = [], [self.variable]
        while reached:
            variable = reached.pop()
            for constraint in variable.constraints:
                if constraint not in plan and constraint.choose(mark):
                    constraint.output.determined_by = constraint
                    constraint.output.mark = mark
                    plan.append(constraint)
                    reached.append(constraint.output)
        return plan


def chain(length):
    made = [Variable(f"v{number}", 0) for number in range(length)]
    for number, (first, second) in enumerate(zip(made, made[1:], strict=False)):
        Equal(first, second, offset=number % 3, scale=1 + (number % 5 == 0))
    return made


s_values = []
s_plans = []
for s_size in (5, 20, 40):
    variables = chain(s_size)
    for edited in (0, s_size // 2, s_size - 1):
        edit = Edit(variables[edited])
        for mark in range(1, 6):
            plan = edit.plan(mark * 100 + edited)
            s_plans.append(len(plan))
            for _ in range(8):
                edit.variable.value = next(edit.values)
                for constraint in plan:
                    constraint.execute()
            s_values.append(variables[-1].value % 1_000_003)
s_last = repr(variables[-3:])[:60]
pass
