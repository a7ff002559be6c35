import pytest

from engine.errors import InvalidInput
from engine.planner import Estimate, MemoryBreakdown
from engine.profiling import ProfileCache, ProfileError, ProfileResult, measure, skip_reason
from tests.engine.profiling.questions import FINETUNE, question

RESULT = ProfileResult(measured_steps=20, warmup_steps=3, step_time_s=0.5)


class Counting:
    """A profiler that counts, and fails as often as it is told."""

    backend = "numpy"

    def __init__(self, failures=0):
        self.calls, self.failures = 0, failures

    def profile(self, request, plan, budget_seconds):
        self.calls += 1
        if self.calls <= self.failures:
            raise ProfileError("No measurement: broken on purpose.")
        return RESULT


def planned(memory_gb=70.0, minutes=100.0):
    """Return a question on an 80 GB GPU whose plan has this memory and time."""
    request, chosen = question(FINETUNE)
    time = None if minutes is None else Estimate(value=minutes, unit="min")
    memory = None if memory_gb is None else MemoryBreakdown(total_gb=memory_gb)
    return request, chosen.variant(memory=memory, time=time)


def test_sixty_percent_of_the_gpu_is_still_comfortable():
    assert "60%" in skip_reason(*planned(48.0))  # 48 of 80 GB
    assert skip_reason(*planned(48.01)) is None


def test_five_percent_of_the_job_is_still_worth_it():
    assert skip_reason(*planned(minutes=100.0), budget_seconds=300) is None  # 5 % of 6,000 s
    assert "5%" in skip_reason(*planned(minutes=99.9), budget_seconds=300)
    assert skip_reason(*planned(minutes=1.0), budget_seconds=3) is None


def test_what_is_unknown_is_no_reason_to_skip():
    assert skip_reason(*planned(memory_gb=None, minutes=None)) is None


def test_a_profile_is_measured_once_and_then_known(tmp_path):
    cache, profiler = ProfileCache(tmp_path / "profiles.db"), Counting()
    first = measure(*planned(), profiler, cache)
    second = measure(*planned(), profiler, cache)
    assert (first.origin, second.origin, profiler.calls) == ("measured", "cache", 1)
    assert first.result == second.result == RESULT
    assert (first.basis, second.basis) == ("profiled", "profiled")


def test_the_cache_is_asked_before_the_rules():
    class Knowing(ProfileCache):
        def __init__(self):
            pass

        def get(self, key):
            return RESULT

    assert measure(*planned(memory_gb=10.0), Counting(), Knowing()).origin == "cache"


def test_a_skipped_profile_runs_nothing_unless_forced(tmp_path):
    cache, profiler = ProfileCache(tmp_path / "profiles.db"), Counting()
    skipped = measure(*planned(memory_gb=10.0), profiler, cache)
    assert (skipped.origin, skipped.basis, skipped.result, profiler.calls) == ("skipped", "static", None, 0)
    assert measure(*planned(memory_gb=10.0), profiler, cache, force=True).origin == "measured"
    assert measure(*planned(memory_gb=10.0), profiler, cache, force=True).origin == "measured"
    assert profiler.calls == 2, "forcing measures again"


def test_a_failed_profile_leaves_the_plan_static_and_is_tried_again(tmp_path):
    cache, profiler = ProfileCache(tmp_path / "profiles.db"), Counting(failures=1)
    failed = measure(*planned(), profiler, cache)
    assert (failed.origin, failed.basis, failed.result) == ("failed", "static", None)
    assert failed.reason == "No measurement: broken on purpose."
    assert measure(*planned(), profiler, cache).origin == "measured"


@pytest.mark.parametrize("budget", [0, float("nan")])
def test_a_budget_that_cannot_be_is_no_reason_to_skip(budget):
    with pytest.raises(InvalidInput, match="budget_seconds"):
        measure(*planned(memory_gb=10.0), Counting(), None, budget)
