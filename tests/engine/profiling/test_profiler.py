"""A real profile, and attempts to break what every profile promises."""

import os
import random
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.planner import PlanRequest
from engine.profiling import ProfileCache, ProfileError, Profiler, ProfileResult, measure
from tests.engine.profiling.questions import FINETUNE, GENERIC, carrying_a_run, question


def worker(tmp_path, body):
    """Return the command of a measuring process that does `body`, with `folder` and `note` at hand."""
    script = tmp_path / "worker.py"
    head = f"""
        import json, os, signal, subprocess, sys, time
        folder, note = sys.argv[2], {str(tmp_path / "note.txt")!r}
        def say(**event): print(json.dumps(event), flush=True)
        def write(*words):
            with open(note, "a") as file: print(*words, file=file, flush=True)
    """
    script.write_text(textwrap.dedent(head) + textwrap.dedent(body))
    return [sys.executable, "-P", str(script)]


def notes(tmp_path):
    return [line.split() for line in (tmp_path / "note.txt").read_text().splitlines()]


def gone(pids):
    """Return whether every process has ended; the kernel may take a moment after the signal."""
    deadline = time.monotonic() + 1.0
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(alive(pid) for pid in pids)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class TestARealProfile:
    def test_a_transformer_is_trained_saved_and_restored_within_the_bound_of_ci(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "numpy.py").write_text("raise SystemExit('the current folder was imported')")
        seen, started = [], time.monotonic()
        profiler = Profiler("numpy", progress=lambda *event: seen.append(event))
        result = profiler.profile(*question(FINETUNE))
        assert time.monotonic() - started < 20
        assert (result.basis, result.warmup_steps, result.measured_steps) == ("profiled", 3, 20)
        assert [event for event in seen if event[0] == "step"] == [("step", n, 23) for n in range(1, 24)]
        assert seen[-1] == ("checkpoint", 1, 1)
        assert result.tokens_per_s == pytest.approx(128 / result.step_time_s)
        # Two embeddings, places, an output and 12 H² a block.
        assert result.parameters == 2 * 256 * 256 + 128 * 256 + 2 * 12 * 256**2
        assert result.checkpoint_size_gb == pytest.approx(3 * 4 * result.parameters / 1e9, rel=0.01)
        assert 0.03 < result.host_ram_gb < 2
        assert result.checkpoint_save_s > 0 and result.checkpoint_restore_s > 0
        assert any("7,620,000,000" in note for note in result.notes), "a stand-in says that it is one"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["numpy.py"]

    def test_what_was_not_measured_is_absent(self):
        result = Profiler("numpy").profile(*question(GENERIC))
        assert result.peak_vram_gb is None and result.dataloader_wait_fraction is None
        assert result.tokens_per_s is None, "a perceptron has no tokens"
        assert result.parameters == 40_000, "a model that is small enough is trained at its own size"

    def test_the_peak_is_that_of_the_run_and_not_of_its_parent(self):
        ballast = np.ones(50_000_000)  # 400 MB, touched
        result = Profiler("numpy").profile(*question(GENERIC))
        assert result.host_ram_gb < ballast.nbytes / 1e9

    def test_torch_measures_the_same_job_when_it_is_installed(self):
        pytest.importorskip("torch")
        result = Profiler("torch").profile(*question(FINETUNE))
        assert result.measured_steps == 20
        assert any("torch" in note for note in result.notes)

    def test_a_workload_without_a_training_step_has_nothing_to_measure(self):
        chosen = question(GENERIC)[1]
        request = PlanRequest.read({"workload": {"kind": "classical_ml", "dataset_mb": 10}})
        with pytest.raises(ProfileError, match="classical_ml workload has no training step"):
            Profiler("numpy").profile(request, chosen)

    @pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "long"])
    def test_a_budget_is_a_positive_number(self, budget):
        with pytest.raises(InvalidInput, match="budget_seconds"):
            Profiler("numpy").profile(*question(GENERIC), budget_seconds=budget)

    @pytest.mark.parametrize("backend", ["jax", ""])
    def test_a_backend_is_one_of_three(self, backend):
        with pytest.raises(InvalidInput, match="backend"):
            Profiler(backend)


class TestItsOwnFolderAndRun:
    BODY = """
        write(os.environ["FLEETLAB_PROFILE_RUN"], folder, os.getcwd())
        open("left-behind", "w").close()
        sys.exit("broken on purpose")
    """

    def test_each_run_has_its_own_and_nothing_of_it_stays(self, tmp_path):
        profiler = Profiler("numpy", worker=worker(tmp_path, self.BODY))
        for _ in range(2):
            with pytest.raises(ProfileError, match="broken on purpose"):
                profiler.profile(*question(GENERIC))
        (run, folder, current), (other_run, other_folder, _) = notes(tmp_path)
        assert run != other_run and folder != other_folder
        assert run in folder and os.path.realpath(folder) == current
        assert not Path(folder).exists() and not Path(other_folder).exists()

    def test_the_folder_lies_on_the_disk_that_was_asked_for(self, tmp_path):
        disk = tmp_path / "disk"
        disk.mkdir()
        profiler = Profiler("numpy", folder=disk, worker=worker(tmp_path, self.BODY))
        with pytest.raises(ProfileError):
            profiler.profile(*question(GENERIC))
        assert Path(notes(tmp_path)[0][1]).parent == disk
        assert list(disk.iterdir()) == []
        with pytest.raises(ProfileError, match="No folder"):
            Profiler("numpy", folder=tmp_path / "missing").profile(*question(GENERIC))


class TestNoWriteElsewhere:
    def test_a_run_changes_no_store_and_no_file_around_it(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        cache = ProfileCache("profiles.db")
        cache.put("pf_other", ProfileResult(measured_steps=1, warmup_steps=0))
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        Profiler("numpy").profile(*question(GENERIC))
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before

    @pytest.mark.parametrize("body", ["sys.exit(1)", "time.sleep(60)", "say(event='result', numbers={})"])
    def test_nothing_is_cached_from_a_failed_run(self, tmp_path, body):
        cache = ProfileCache(tmp_path / "profiles.db")
        request, chosen = question(GENERIC)
        profiler = Profiler("numpy", worker=worker(tmp_path, body))
        outcome = measure(request, chosen, profiler, cache, budget_seconds=1.0, force=True)
        assert (outcome.origin, outcome.basis, outcome.result) == ("failed", "static", None)
        assert "No measurement" in outcome.reason
        assert not (tmp_path / "profiles.db").exists()


def test_global_random_states_are_unchanged():
    random.seed(7)
    np.random.seed(7)
    before = random.getstate(), np.random.get_state()[1].tobytes(), np.random.get_state()[2]
    Profiler("numpy").profile(*question(GENERIC))
    assert (random.getstate(), np.random.get_state()[1].tobytes(), np.random.get_state()[2]) == before


class TestBoundedCost:
    HUNG = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleep = [sys.executable, "-c", "import time, signal; signal.signal(15, 1); time.sleep(60)"]
        child = subprocess.Popen(sleep)
        fled = subprocess.Popen(sleep, start_new_session=True)
        write(os.getpid(), child.pid, fled.pid)
        say(event="step", done=1, total=23)
        if {closed}: os.close(1)
        time.sleep(60)
    """

    @pytest.mark.parametrize("closed", [False, True], ids=["silent", "output closed"])
    def test_a_hung_run_is_killed_with_its_children_within_a_second_of_its_budget(self, tmp_path, closed):
        profiler = Profiler("numpy", worker=worker(tmp_path, self.HUNG.format(closed=closed)))
        started = time.monotonic()
        with pytest.raises(ProfileError, match="No measurement"):
            profiler.profile(*question(GENERIC), budget_seconds=2.0)
        assert time.monotonic() - started < 3.0
        (pids,) = notes(tmp_path)
        assert len(pids) == 3 and gone(pids)
        assert carrying_a_run() == []

    def test_the_session_is_killed_where_environments_cannot_be_read(self, tmp_path, monkeypatch):
        monkeypatch.setattr("engine.profiling.child._carrying", lambda run: [])
        body = """
            sleep = "import time, signal; signal.signal(15, 1); print('ready', flush=True); time.sleep(60)"
            child = subprocess.Popen([sys.executable, "-c", sleep], stdout=subprocess.PIPE)
            child.stdout.readline()
            write(os.getpid(), child.pid)
            time.sleep(60)
        """
        with pytest.raises(ProfileError, match="No measurement"):
            profiler = Profiler("numpy", worker=worker(tmp_path, body))
            profiler.profile(*question(GENERIC), budget_seconds=1.5)
        (pids,) = notes(tmp_path)
        assert len(pids) == 2 and gone(pids)

    def test_a_run_that_talks_without_end_is_bounded_too(self, tmp_path):
        started = time.monotonic()
        for body in (
            "while True: say(event='step', done=1, total=2)",
            "while True: print('x' * 9999, end='')",
        ):
            with pytest.raises(ProfileError, match="No measurement"):
                profiler = Profiler("numpy", worker=worker(tmp_path, body))
                profiler.profile(*question(GENERIC), budget_seconds=1.5)
        assert time.monotonic() - started < 5.0
        assert carrying_a_run() == []

    def test_a_real_run_is_cut_off_where_it_is(self):
        started = time.monotonic()
        with pytest.raises(ProfileError, match=r"budget of 0\.2 s"):
            Profiler("numpy").profile(*question(FINETUNE), budget_seconds=0.2)
        assert time.monotonic() - started < 1.2
        assert carrying_a_run() == []

    def test_an_interrupted_run_leaves_no_process(self):
        def interrupt(stage, done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Profiler("numpy", progress=interrupt).profile(*question(GENERIC))
        assert carrying_a_run() == []

    def test_an_interrupt_while_the_run_starts_leaves_no_process(self, monkeypatch):
        import subprocess

        start, pids = subprocess.Popen, []

        def interrupted(*arguments, **options):
            pids.append(start(*arguments, **options).pid)
            raise KeyboardInterrupt

        monkeypatch.setattr(subprocess, "Popen", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Profiler("numpy").profile(*question(GENERIC))
        assert len(pids) == 1 and gone(pids)

    def test_a_child_that_outlives_a_finished_run_is_ended(self, tmp_path):
        body = """
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            write(child.pid)
            say(event="result", numbers={})
        """
        with pytest.raises(ProfileError):
            Profiler("numpy", worker=worker(tmp_path, body)).profile(*question(GENERIC))
        assert gone(notes(tmp_path)[0])


NUMBERS = {
    "step_s": 0.01,
    "steps": 20,
    "warmup": 3,
    "parameters": 9,
    "host_bytes": 5e7,
    "host_bytes_before": 4e7,
    "save_s": 0.1,
    "restore_s": 0.1,
    "bytes": 1000,
    "restored_from_disk": True,
}


class TestTrust:
    def profile(self, tmp_path, data=GENERIC, **changes):
        numbers = {**NUMBERS, **changes}
        body = f"say(event='result', version='1', numbers=eval({str(numbers)!r}, {{'nan': float('nan')}}))"
        return Profiler("numpy", worker=worker(tmp_path, body)).profile(*question(data))

    def test_numbers_that_can_be_are_passed_on(self, tmp_path):
        result = self.profile(tmp_path)
        assert (result.step_time_s, result.checkpoint_save_s, result.parameters) == (0.01, 0.1, 9)

    @pytest.mark.parametrize(
        "change",
        [
            {"step_s": 0},
            {"step_s": -1},
            {"step_s": float("nan")},
            {"steps": 19},
            {"save_s": -0.1},
            {"bytes": 0},
            {"parameters": None},
            {"host_bytes": "much"},
        ],
        ids=str,
    )
    def test_numbers_that_cannot_be_are_no_measurement(self, tmp_path, change):
        with pytest.raises(ProfileError, match="numbers that cannot be"):
            self.profile(tmp_path, **change)
        with pytest.raises(ProfileError, match="numbers that cannot be"):
            self.profile(tmp_path, FINETUNE, **change)

    @pytest.mark.parametrize(
        "body",
        ["print('hello')", "print('[1, 2]')", "print('[' * 100000)", "say(event='step', done='x', total=1)"],
    )
    def test_anything_but_events_is_no_measurement(self, tmp_path, body):
        with pytest.raises(ProfileError, match="not an event"):
            Profiler("numpy", worker=worker(tmp_path, body)).profile(*question(GENERIC))

    def test_a_run_that_ends_early_is_quoted(self, tmp_path):
        for body, words in (("raise MemoryError('too small')", "too small"), ("pass", "it said nothing")):
            with pytest.raises(ProfileError, match=words):
                Profiler("numpy", worker=worker(tmp_path, body)).profile(*question(GENERIC))

    def test_a_program_that_does_not_exist_is_a_clear_error(self, tmp_path):
        with pytest.raises(ProfileError, match="did not start"):
            Profiler("numpy", worker=[str(tmp_path / "missing")]).profile(*question(GENERIC))


def test_a_write_time_is_scaled_by_the_measured_rate():
    result = ProfileResult(measured_steps=1, warmup_steps=0, checkpoint_save_s=0.5, checkpoint_size_gb=0.25)
    assert result.checkpoint_write("15 GB").to("s").magnitude == pytest.approx(30.0)
