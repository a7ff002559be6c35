"""A slow, obvious fleet with nodes that steps through time; it shares no code with the engine."""

from dataclasses import dataclass, field


@dataclass
class Job:
    row: int
    submit: int
    size: int
    estimate: int
    run: int
    priority: int = 0
    contiguous: bool = False


@dataclass
class Running:
    job: Job
    start: int
    end: int
    limit: int
    slots: dict = field(default_factory=dict)  # node -> set of slots


class SlowFleet:
    def __init__(self, nodes, gpus, jobs, policy, placement, kill_at_limit=True, changes=()):
        self.nodes, self.gpus, self.jobs = nodes, gpus, jobs
        self.policy, self.placement, self.kill = policy, placement, kill_at_limit
        self.changes = list(changes)  # (time, "fail" | "repair", node)
        self.failed, self.queue, self.running = set(), [], []
        self.started, self.placed = {}, {}

    def play(self, until):
        for now in range(until + 1):
            self.step(now)
        return self

    def step(self, now):
        self.release(now)
        self.arrive(now)
        self.settle(now)
        for time, what, node in self.changes:
            if time == now:
                self.change(what, node)
                self.settle(now)

    def settle(self, now):
        """Serve, and again while jobs of no length end at once."""
        self.serve(now)
        while self.release(now):
            self.serve(now)

    def seen(self):
        return self.queue + [r.job for r in self.running] + [j for j in self.jobs if j.row in self.started]

    def release(self, now):
        gone = [r for r in self.running if r.end == now]
        self.running = [r for r in self.running if r.end != now]
        return bool(gone)

    def arrive(self, now):
        for job in self.jobs:
            if job.submit == now and job not in self.seen() and self.count(job) <= self.nodes:
                self.queue.append(job)
        self.sort()

    def sort(self):
        if self.policy == "priority":
            self.queue.sort(key=lambda j: (-j.priority, j.row))
        else:
            self.queue.sort(key=lambda j: j.row)

    def count(self, job):
        return (job.size + self.gpus - 1) // self.gpus

    def change(self, what, node):
        if what == "repair":
            self.failed.discard(node)
            return
        for r in [r for r in self.running if node in r.slots]:
            self.running.remove(r)
            self.queue.append(r.job)
        self.sort()
        self.failed.add(node)

    def taken(self, node, at=None):
        """Slots taken now, or by the estimates at a later time."""
        used = set()
        for r in self.running:
            if at is None or max(r.limit, self.now) > at:
                used |= r.slots.get(node, set())
        return used

    def healthy(self):
        return [n for n in range(self.nodes) if n not in self.failed]

    def find(self, job, allowed, at=None):
        """Return {node: slots} for a job among the allowed nodes, now or at a later time, or None."""
        free = {n: self.gpus - len(self.taken(n, at)) for n in self.healthy()}
        if job.size <= self.gpus:
            room = [n for n in free if n in allowed and free[n] >= job.size]
            if not room:
                return None
            if at is not None or self.placement == "first":
                node = min(room)
            elif self.placement == "best":
                node = min(room, key=lambda n: (free[n], n))
            else:
                node = min(room, key=lambda n: (-free[n], n))
            spare = [s for s in range(self.gpus) if s not in self.taken(node, at)]
            return {node: set(spare[: job.size])}
        need = self.count(job)
        whole = [n for n in self.healthy() if n in allowed and free[n] == self.gpus]
        chosen = None
        if not job.contiguous and len(whole) >= need:
            chosen = whole[:need]
        if job.contiguous:
            order = self.healthy()
            for i in range(len(order) - need + 1):
                if all(n in whole for n in order[i : i + need]):
                    chosen = order[i : i + need]
                    break
        return {n: set(range(self.gpus)) for n in chosen} if chosen else None

    def start(self, job, now, slots):
        run = min(job.run, job.estimate) if self.kill else job.run
        self.running.append(Running(job, now, now + run, now + job.estimate, slots))
        self.queue.remove(job)
        self.started.setdefault(job.row, now)
        self.placed[job.row] = slots

    def serve(self, now):
        self.now = now
        everywhere = set(range(self.nodes))
        while self.queue:
            slots = self.find(self.queue[0], everywhere)
            if slots is None:
                break
            self.start(self.queue[0], now, slots)
        if self.policy == "fcfs" or not self.queue:
            return
        shadow, reserved = self.reserve(now) if self.policy == "easy" else (10**9, set())
        for job in self.queue[1:]:
            soon = now + job.estimate <= shadow
            slots = self.find(job, everywhere if soon else everywhere - reserved)
            if slots is not None:
                self.start(job, now, slots)

    def reserve(self, now):
        for at in sorted({max(r.limit, now) for r in self.running}):
            slots = self.find(self.queue[0], set(range(self.nodes)), at)
            if slots is not None:
                return at, set(slots)
        return 10**9, set()
