"""An operating system's scheduler, as a benchmark simulates it: tasks that hand packets to each other."""

from __future__ import annotations

IDLE, WORK, DEVICE = range(3)


class Packet:
    def __init__(self, link: Packet | None, ident: str, kind: int) -> None:
        self.link = link
        self.ident = ident
        self.kind = kind
        self.datum = 0
        self.data = [0] * 4

    def append_to(self, queue: Packet | None) -> Packet:
        self.link = None
        if queue is None:
            return self
        last = queue
        while last.link is not None:
            last = last.link
        last.link = self
        return queue


class Task:
    table: dict[str, Task] = {}

    def __init__(self, name: str, priority: int) -> None:
        self.name = name
        self.priority = priority
        self.input: Packet | None = None
        self.holds = False
        self.waits = False
        self.table[name] = self

    def add(self, packet: Packet, by: Task) -> Task:
        self.input = packet.append_to(self.input)
        self.waits = False
        return self if self.priority > by.priority else by

    def take(self) -> Packet | None:
        packet = self.input
        if packet is not None:
            self.input = packet.link
        return packet

    def run(self) -> Task | None:
        raise NotImplementedError


class Idle(Task):
    control, count = 1, 3000

    def run(self) -> Task | None:
        self.count -= 1
        if self.count == 0:
            self.holds = True
            return None
        even = self.control & 1 == 0
        self.control = self.control // 2 if even else self.control // 2 ^ 0xD008
        released = self.table["device a" if even else "device b"]
        released.holds = False
        return released if released.priority > self.priority else self


class Worker(Task):
    count, goal = 0, "handler a"

    def run(self) -> Task | None:
        packet = self.take()
        if packet is None:
            self.waits = True
            return None
        self.goal = "handler b" if self.goal == "handler a" else "handler a"
        packet.ident, packet.datum = self.goal, 0
        for place in range(4):
            self.count = self.count % 26 + 1
            packet.data[place] = 64 + self.count
        s_worked.append("".join(map(chr, packet.data)))
        return self.table[self.goal].add(packet, self)


class Handler(Task):
    def __init__(self, name: str, priority: int, device: str) -> None:
        super().__init__(name, priority)
        self.device = device
        self.handled = 0

    def run(self) -> Task | None:
        packet = self.take()
        if packet is None:
            self.waits = True
            return None
        self.handled += 1
        if packet.kind == WORK and packet.datum < 4:
            packet.datum += 1
            return self.add(packet, self)
        goal = self.device if packet.kind == WORK else "worker"
        packet.kind = DEVICE if packet.kind == WORK else WORK
        return self.table[goal].add(packet, self)


class Device(Task):
    def run(self) -> Task | None:
        packet = self.take()
        if packet is None:
            self.holds = self.waits = True
            return None
        packet.kind = IDLE if len(s_worked) % 7 == 0 else DEVICE
        return self.table["worker"].add(packet, self)


def schedule() -> int:
    turns = 0
    tasks = sorted(Task.table.values(), key=lambda task: -task.priority)
    while not all(task.holds or task.waits for task in tasks):
        for task in tasks:
            current: Task | None = task
            while current is not None and not (current.holds or current.waits):
                turns += 1
                before = current
                current = current.run()
                if current is before and isinstance(current, Idle):
                    break
        if turns > 30000:
            break
    return turns


s_worked: list[str] = []
Idle("idle", 0)
worker = Worker("worker", 1000)
for name, priority in (("a", 2000), ("b", 3000)):
    Handler(f"handler {name}", priority, f"device {name}")
    Device(f"device {name}", priority * 2)
    for number in range(3):
        worker.add(Packet(None, f"handler {name}", WORK), worker)
s_turns = schedule()
s_handled = [task.handled for task in Task.table.values() if isinstance(task, Handler)]
pass
