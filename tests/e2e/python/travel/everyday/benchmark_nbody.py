"""Planets around the sun, as a benchmark computes them: much arithmetic of floats, little else."""

import math
from itertools import combinations

DAYS = 365.24
SOLAR_MASS = 4 * math.pi * math.pi
bodies = {
    "sun": ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], SOLAR_MASS),
    "jupiter": (
        [4.84143144246472090e00, -1.16032004402742839e00, -1.03622044471123109e-01],
        [1.66007664274403694e-03 * DAYS, 7.69901118419740425e-03 * DAYS, -6.90460016972063023e-05 * DAYS],
        9.54791938424326609e-04 * SOLAR_MASS,
    ),
    "saturn": (
        [8.34336671824457987e00, 4.12479856412430479e00, -4.03523417114321381e-01],
        [-2.76742510726411899e-03 * DAYS, 4.99852801234917238e-03 * DAYS, 2.30417297573763929e-05 * DAYS],
        2.85885980666130812e-04 * SOLAR_MASS,
    ),
    "uranus": (
        [1.28943695621391310e01, -1.51111514016986312e01, -2.23307578892655734e-01],
        [2.96460137564761618e-03 * DAYS, 2.37847173959480950e-03 * DAYS, -2.96589568540237556e-05 * DAYS],
        4.36624404335156298e-05 * SOLAR_MASS,
    ),
}
pairs = list(combinations(bodies.values(), 2))


def energy():
    total = 0.0
    for (place1, _, mass1), (place2, _, mass2) in pairs:
        total -= mass1 * mass2 / math.dist(place1, place2)
    for _, speed, mass in bodies.values():
        total += mass * math.hypot(*speed) ** 2 / 2
    return total


def offset_momentum():
    momentum = [0.0, 0.0, 0.0]
    for _, speed, mass in bodies.values():
        for axis in range(3):
            momentum[axis] -= speed[axis] * mass
    sun = bodies["sun"][1]
    sun[:] = [part / SOLAR_MASS for part in momentum]


def advance(step, count):
    for _ in range(count):
        for (place1, speed1, mass1), (place2, speed2, mass2) in pairs:
            difference = [a - b for a, b in zip(place1, place2, strict=True)]
            magnitude = step * sum(part * part for part in difference) ** -1.5
            for axis in range(3):
                speed1[axis] -= difference[axis] * mass2 * magnitude
                speed2[axis] += difference[axis] * mass1 * magnitude
        for place, speed, _ in bodies.values():
            for axis in range(3):
                place[axis] += step * speed[axis]


offset_momentum()
s_energies = []
for s_round in range(20):
    s_energies.append(energy())
    print(f"{s_round}: {s_energies[-1]:.9f}", flush=s_round % 5 == 0)
    advance(0.01, 150)
s_places = [place for place, _, _ in bodies.values()]
pass
