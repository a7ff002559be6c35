from hypothesis import given
from hypothesis import strategies as st

from engine.reliability.history import Pace, play

PACE = Pace(work=100, write=20, downtime=5, restart=30)


def told(failures, window, pace=PACE):
    history = play(pace, failures, window)
    return list(zip(history.kinds, history.ends, strict=True))


def test_without_failures_work_and_write_alternate():
    assert told([], 250) == [("work", 100), ("write", 120), ("work", 220), ("write", 240), ("work", 250)]


def test_a_failure_during_the_write_loses_the_work_before_it():
    assert told([110], 300)[:4] == [("lost", 110), ("wait", 115), ("restart", 145), ("work", 245)]


def test_a_failure_at_the_end_of_the_write_comes_too_late_to_lose_it():
    assert told([120], 200) == [("work", 100), ("write", 120), ("wait", 125), ("restart", 155), ("work", 200)]


def test_a_failure_during_the_restart_starts_the_downtime_anew_and_one_during_the_downtime_nothing():
    assert told([50, 52, 60], 200) == [
        ("lost", 50), ("wait", 55), ("restart", 60), ("wait", 65), ("restart", 95),
        ("work", 195), ("write", 200),
    ]  # fmt: skip


def step_by_step(pace, failures, window):
    """The same rules, a millisecond at a time: time spent by kind, lost work booked on failure."""
    spent = dict.fromkeys(("kept", "write", "lost", "wait", "restart"), 0)
    state, since, segment = "run", 0, 0
    for now in range(window):
        if now in failures and state != "wait":
            if state == "run":
                spent["lost"] += segment
                segment = 0
            state, since = "wait", now
            if pace.downtime == 0:
                state = "restart"
        elif state == "wait" and now - since == pace.downtime:
            state, since = "restart", now
        if state == "restart" and now - since == pace.restart:
            state = "run"
        if state == "run":
            segment += 1
            if segment == pace.work + pace.write:
                spent["kept"] += pace.work
                spent["write"] += pace.write
                segment = 0
        else:
            spent[state] += 1
    return spent, segment


@given(
    st.sets(st.integers(1, 600), max_size=12),
    st.tuples(st.integers(1, 60), st.integers(1, 15), st.integers(1, 9), st.integers(1, 30)),
)
def test_it_equals_a_plain_step_by_step_run(failures, times):
    pace = Pace(*times)
    history = play(pace, sorted(failures), 600)
    assert history.ends[-1] == 600 and history.ends == sorted(set(history.ends))
    starts = [0, *history.ends[:-1]]
    spent = dict.fromkeys(("work", "write", "lost", "wait", "restart"), 0)
    for kind, start, end in zip(history.kinds, starts, history.ends, strict=True):
        spent[kind] += end - start
    plain, unfinished = step_by_step(pace, failures, 600)
    assert (spent["wait"], spent["restart"]) == (plain["wait"], plain["restart"])
    busy = plain["kept"] + plain["write"] + plain["lost"] + unfinished
    assert spent["work"] + spent["write"] + spent["lost"] == busy
    assert spent["lost"] in (plain["lost"], plain["lost"] + unfinished)
