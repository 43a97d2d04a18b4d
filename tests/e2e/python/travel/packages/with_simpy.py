"""A simulation of simpy: customers who wait for two tills."""

import random

import simpy

s_waits = []
chance = random.Random(11)


def customer(environment, tills, number):
    came = environment.now
    with tills.request() as turn:
        yield turn
        s_waits.append(round(environment.now - came, 3))
        yield environment.timeout(chance.expovariate(0.4))


def arrivals(environment, tills):
    for number in range(40):
        environment.process(customer(environment, tills, number))
        yield environment.timeout(chance.expovariate(0.7))


environment = simpy.Environment()
environment.process(arrivals(environment, simpy.Resource(environment, capacity=2)))
environment.run()
s_longest = max(s_waits)
s_mean = round(sum(s_waits) / len(s_waits), 4)
print(len(s_waits), s_longest, s_mean)
