"""Queueing policies the slow and obvious way, by stepping time one unit at a time.

Written from the definitions alone; shares no code with the engine. A policy makes a pass only at an instant
at which a job ends or arrives (an estimate that runs out is no event). A job is a tuple
(id, submit, size, estimate, run, priority); times are small integers.
"""


def simulate(jobs, units, policy, *, kill_at_limit=True, blocked_waits=False):
    """Return {id: start} and {id: end}; jobs larger than the machine are in neither."""
    queue_order = sorted((j for j in jobs if j[2] <= units), key=lambda j: (j[1], j[0]))
    start, end = {}, {}
    now = 0
    while len(end) < len(queue_order):
        something_happens = now in end.values() or any(j[1] == now for j in queue_order)
        while something_happens:
            running = [j for j in queue_order if j[0] in start and end[j[0]] > now]
            waiting = [j for j in queue_order if j[1] <= now and j[0] not in start]
            something_happens = False
            for job in choose(policy, waiting, running, start, units, now, blocked_waits):
                start[job[0]] = now
                end[job[0]] = now + length(job, kill_at_limit)
                something_happens |= end[job[0]] == now
        now += 1
    return start, end


def length(job, kill_at_limit):
    return min(job[3], job[4]) if kill_at_limit else job[4]


def choose(policy, waiting, running, start, units, now, blocked_waits):
    free = units - sum(j[2] for j in running)
    if policy == "fcfs":
        return scan(waiting, free, stop=True)
    if policy == "skip":
        return scan(waiting, free, stop=False)
    if policy == "priority":
        return scan(sorted(waiting, key=lambda j: (-j[5], j[1], j[0])), free, stop=blocked_waits)
    ends = {j: max(now, start[j[0]] + j[3]) for j in running}
    return (easy if policy == "easy" else conservative)(waiting, ends, free, units, now)


def scan(queue, free, *, stop):
    chosen = []
    for job in queue:
        if job[2] <= free:
            chosen.append(job)
            free -= job[2]
        elif stop:
            break
    return chosen


def easy(waiting, ends, free, units, now):
    chosen = scan(waiting, free, stop=True)
    free -= sum(j[2] for j in chosen)
    ends = ends | {j: now + j[3] for j in chosen}
    rest = waiting[len(chosen) :]
    if not rest:
        return chosen

    def free_at(time):
        return units - sum(j[2] for j, e in ends.items() if e > time)

    head, shadow = rest[0], now
    while free_at(shadow) < head[2]:
        shadow += 1
    extra = free_at(shadow) - head[2]
    for job in rest[1:]:
        if job[2] > free:
            continue
        if now + job[3] <= shadow:
            pass
        elif job[2] <= extra:
            extra -= job[2]
        else:
            continue
        free -= job[2]
        chosen.append(job)
    return chosen


def conservative(waiting, ends, free, units, now):
    horizon = sum(j[3] for j in waiting) + max([e - now for e in ends.values()], default=0) + 2
    profile = [units - sum(j[2] for j, e in ends.items() if e > now + step) for step in range(horizon)]
    chosen = []
    for job in waiting:
        slot = 0
        while min(profile[slot : slot + max(1, job[3])]) < job[2]:
            slot += 1
        for step in range(slot, slot + job[3]):
            profile[step] -= job[2]
        if slot == 0 and job[2] <= free:
            free -= job[2]
            chosen.append(job)
    return chosen
