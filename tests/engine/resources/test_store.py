"""The store's answers: the hand cases, the floor and its release, and what a slow reference says."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.resources import ResourceKey, ResourceReport, ResourceStore
from engine.resources.learning import RETRY_FACTOR, Use, resolve

KEY = ResourceKey("embed", "bge-small", "512")


@pytest.fixture
def store(tmp_path):
    return ResourceStore(tmp_path / "resources.db")


def record(store, peak_gb, workers=4, *, oom=False, run="", key=KEY):
    store.record(key, ResourceReport(peak_gb=peak_gb, workers=workers), 0.5, oom=oom, run=run)


def per_worker(store, hint=None, override=None, key=KEY):
    wrap = lambda value: None if value is None else {"memory_per_worker_gb": value}  # noqa: E731
    return pytest.approx(store.resolve(key, wrap(hint), wrap(override)).memory_per_worker_gb, rel=1e-12)


def three_successes(store):
    for peak in (4.5, 5.3, 4.9):
        record(store, peak)


def test_three_peaks_on_four_workers(store):
    three_successes(store)
    assert per_worker(store) == 1.44  # shares 1.0, 1.2, 1.1; rank ⌈2.85⌉ = 3; 1.2 × 1.2
    assert store.resolve(KEY).source == "learned from 3 runs"


def test_twenty_shares_from_a_tenth_to_two(store):
    for tenths in range(1, 21):
        record(store, 0.5 + tenths / 10, workers=1)
    assert per_worker(store) == 2.28  # rank ⌈19⌉ = 19; 1.2 × 1.9


def test_a_success_before_the_last_twenty_is_forgotten(store):
    record(store, 10.5, workers=1)
    for _ in range(20):
        record(store, 1.5, workers=1)
    assert per_worker(store) == 1.2
    assert store.resolve(KEY).samples == 20


def test_a_kill_raises_the_floor_and_a_higher_one_raises_it_more(store):
    three_successes(store)
    record(store, 8.5, oom=True)
    assert per_worker(store) == 3.0  # 1.5 × (8.5 − 0.5) / 4
    record(store, 12.5, oom=True)
    assert per_worker(store) == 4.5


@pytest.mark.parametrize(("run", "answer"), [("later", 2.64), ("killed", 4.5), ("", 2.64)])
def test_only_a_success_of_another_run_releases_the_floor(store, run, answer):
    three_successes(store)
    record(store, 8.5, oom=True, run="killed")
    record(store, 12.5, oom=True, run="killed")
    record(store, 9.3, run=run)  # its own share is 2.2, learned as 1.2 × 2.2
    assert per_worker(store) == answer


def test_two_empty_run_ids_are_two_runs(store):
    record(store, 8.5, oom=True)
    record(store, 4.5)
    assert per_worker(store) == 1.2


def test_a_success_releases_only_the_kills_before_it(store):
    record(store, 8.5, oom=True, run="a")
    record(store, 4.5, run="b")
    record(store, 6.5, oom=True, run="c")
    assert per_worker(store) == 2.25
    assert store.open_kills(KEY) == 1


def test_a_released_kill_stays_released_when_its_own_run_succeeds_last(store):
    record(store, 12.5, oom=True, run="a")
    record(store, 4.5, run="b")
    record(store, 4.5, run="a")
    assert per_worker(store) == 1.2


def test_a_kill_meets_the_larger_of_floor_and_hint_while_nothing_succeeded(store):
    record(store, 1.3, workers=1, oom=True)
    assert per_worker(store, hint=0.8) == 1.2
    assert per_worker(store, hint=5.0) == 5.0
    assert per_worker(store, hint=0.8, override=1.0) == 1.0
    assert store.resolve(KEY, {"memory_per_worker_gb": 0.8}).source == "plugin hint"
    assert store.resolve(KEY).samples == 0, "a killed pod is no success"


def test_killed_pods_never_enter_the_window_nor_push_a_success_out_of_it(store):
    record(store, 2.5, workers=1)
    for _ in range(25):
        record(store, 1.0, workers=1, oom=True)
    answer = store.resolve(KEY)
    assert (answer.samples, answer.memory_per_worker_gb) == (1, pytest.approx(2.4))


def test_keys_do_not_learn_from_each_other(store):
    other = ResourceKey("embed", "bge-small", "1024")
    record(store, 8.5)
    record(store, 40.5, oom=True, key=other)
    assert per_worker(store) == 2.4
    assert per_worker(store, key=other) == 15.0
    assert store.keys() == sorted([KEY, other], key=ResourceKey.text)


def test_everything_reported_is_kept(store):
    report = {"peak_gb": 2.5, "workers": 2, "scratch_gb": 3.0, "gpus": 8, "seconds": 30.0, "units": 12}
    store.record(KEY, report, base_gb=0.25)
    answer = ResourceStore(store._database.path).resolve(KEY)
    assert answer.memory_base_gb == 0.25
    assert answer.memory_per_worker_gb == pytest.approx(1.35)
    assert answer.scratch_gb == pytest.approx(3.6)
    assert (answer.gpus, answer.seconds_per_unit) == (0, 2.5)


@pytest.mark.parametrize(
    ("report", "base", "name"),
    [
        ({"peak_gb": -1, "workers": 1}, 0.5, "peak_gb"),
        ({"peak_gb": float("nan"), "workers": 1}, 0.5, "peak_gb"),
        ({"peak_gb": 1, "workers": 0}, 0.5, "workers"),
        ({"peak_gb": 1, "workers": 1, "vram_gb": 1}, 0.5, "vram_gb"),
        ({"workers": 1}, 0.5, "peak_gb"),
        ({"peak_gb": 1, "workers": 1}, float("inf"), "base_gb"),
        ({"peak_gb": 1, "workers": 1}, -0.5, "base_gb"),
    ],
)
def test_a_report_that_cannot_be_is_refused_by_name_and_makes_no_file(store, report, base, name):
    with pytest.raises(InvalidInput, match=name):
        store.record(KEY, report, base)
    assert not store._database.path.exists()


def test_asking_makes_no_file(store):
    assert store.resolve(KEY).source == "default"
    assert store.keys() == []
    assert not store._database.path.exists()


def test_a_store_stays_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = ResourceStore("resources.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    record(store, 4.5)
    assert (tmp_path / "resources.db").exists()


def test_sqlite_is_loaded_only_by_opening_a_store():
    program = (
        "import sys, engine.resources as r; assert 'sqlite3' not in sys.modules;"
        "r.ResourceStore('/nonexistent/x.db').resolve(r.ResourceKey('a', 'b'));"
        "assert 'sqlite3' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


events = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["", "", "a", "b", "c"]), st.integers(0, 40), st.integers(1, 4)),
    max_size=30,
)


@given(events)
def test_the_store_agrees_with_a_walk_through_the_whole_history(tmp_path_factory, history):
    store = ResourceStore(tmp_path_factory.mktemp("walk") / "resources.db")
    for oom, run, quarters, workers in history:
        record(store, quarters / 4, workers, oom=oom, run=run)

    uses = [(oom, run, Use(ResourceReport(peak_gb=q / 4, workers=w), 0.5)) for oom, run, q, w in history]
    floor = 0.0
    for place, (oom, run, killed) in enumerate(uses):
        released = False
        for later_oom, later_run, _ in uses[place + 1 :]:
            same = run != "" and later_run == run
            released = released or (not later_oom and not same)
        if oom and not released:
            floor = max(floor, RETRY_FACTOR * killed.per_worker_gb)
    without_kills = resolve([u for oom, _, u in uses if not oom][-20:], [])
    assert store.resolve(KEY).memory_per_worker_gb == max(floor, without_kills.memory_per_worker_gb)


def test_threads_share_one_store_without_losing_a_report(store):
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(record, store, 4.5, run=str(n)) for n in range(100)]:
            future.result()
    assert rows(store._database.path) == 100


def test_eight_processes_lose_none_of_their_five_hundred_reports(tmp_path):
    path = tmp_path / "resources.db"
    program = (
        "import sys; from engine.resources import *\n"
        "store, key = ResourceStore(sys.argv[1]), ResourceKey('embed', 'bge-small', '512')\n"
        "for n in range(500):\n"
        "    store.record(key, {'peak_gb': 4.5, 'workers': 4}, 0.5, run=f'{sys.argv[2]}-{n}')"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(path), str(p)]) for p in range(8)]
    assert [process.wait(timeout=120) for process in started] == [0] * 8
    assert rows(path) == 4000
    assert ResourceStore(path).resolve(KEY).samples == 20


def rows(path):
    import sqlite3

    with sqlite3.connect(path) as connection:
        count, runs = connection.execute("SELECT count(*), count(DISTINCT run) FROM uses").fetchone()
        by_process = connection.execute("SELECT run FROM uses ORDER BY id").fetchall()
    connection.close()
    assert count == runs
    places = {}
    for (run,) in by_process:
        writer, _, n = run.rpartition("-")
        assert not writer or places.get(writer, -1) < int(n), "insertion order is kept within a writer"
        places[writer] = int(n)
    return count
