"""Preemption the slow and obvious way: victims by trying all sets, schedules by stepping time.

Written from the definitions alone; shares no code with the engine. A job is a tuple
(id, submit, size, estimate, run, priority); times are small integers.
"""


def enough(chosen, free, size):
    return free + sum(job["size"] for job in chosen) >= size


def victims(running, free, size, priority):
    """Return the ids of the victims: take in order, then spare whom one can, the last taken first."""
    order = sorted(running, key=lambda job: (job["priority"], -job["start"], -job["id"]))
    order = [job for job in order if job["priority"] < priority]
    if enough([], free, size) or not enough(order, free, size):
        return []
    count = min(count for count in range(len(order) + 1) if enough(order[:count], free, size))
    taken = order[:count]
    for job in reversed(order[:count]):
        if enough([other for other in taken if other is not job], free, size):
            taken = [other for other in taken if other is not job]
    return [job["id"] for job in taken]


def simulate(jobs, units, *, kill_at_limit=True, checkpoint_every=None):
    """Return first starts, last ends, stops and lost work, each by id."""
    jobs = [job for job in jobs if job[2] <= units]
    left = {job[0]: min(job[3], job[4]) if kill_at_limit else job[4] for job in jobs}
    begun, start, end = {}, {}, {}
    stops, lost = {job[0]: 0 for job in jobs}, {job[0]: 0 for job in jobs}
    now = 0
    while len(end) < len(jobs):
        again = any(job[1] == now for job in jobs) or any(begun[i] + left[i] == now for i in begun)
        while again:
            again = False
            for i in [i for i in begun if begun[i] + left[i] == now]:
                end[i] = now
                del begun[i]
            seen = set()
            while True:
                queue = [j for j in jobs if j[1] <= now and j[0] not in {*begun, *end, *seen}]
                if not queue:
                    break
                job = min(queue, key=lambda j: (-j[5], j[1], j[0]))
                seen.add(job[0])
                running = [
                    {"id": j[0], "size": j[2], "priority": j[5], "start": begun[j[0]]}
                    for j in jobs
                    if j[0] in begun
                ]
                free = units - sum(other["size"] for other in running)
                for i in victims(running, free, job[2], job[5]):
                    done = now - begun.pop(i)
                    kept = done // checkpoint_every * checkpoint_every if checkpoint_every else 0
                    left[i] -= kept
                    lost[i] += (done - kept) * next(j[2] for j in jobs if j[0] == i)
                    stops[i] += 1
                    seen.discard(i)
                if job[2] <= units - sum(j[2] for j in jobs if j[0] in begun):
                    begun[job[0]] = now
                    start.setdefault(job[0], now)
                    again |= left[job[0]] == 0
        now += 1
    return start, end, stops, lost
