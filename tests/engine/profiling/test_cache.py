import sqlite3

import pytest

from engine.errors import FileProblem, InvalidInput, NoAnswer
from engine.profiling import ProfileCache, ProfileResult
from engine.profiling.job import bucket
from tests.engine.profiling.questions import FINETUNE, question

RESULT = ProfileResult(measured_steps=20, warmup_steps=3, step_time_s=0.1 + 0.2, notes=("a note",))


@pytest.fixture
def cache(tmp_path):
    return ProfileCache(tmp_path / "profiles.db")


def key(cache, backend="numpy", **changes):
    return cache.key(*question(FINETUNE, **changes), backend)


def test_what_was_put_is_got_by_another_cache_on_the_file(cache):
    assert cache.get("pf_1") is None
    assert not cache._database.path.exists(), "asking makes no file"
    cache.put("pf_1", RESULT)
    again = ProfileCache(cache._database.path)
    assert again.get("pf_1") == RESULT
    assert again.get("pf_2") is None
    later = RESULT.variant(step_time_s=1.0)
    again.put("pf_1", later)
    assert cache.get("pf_1") == later


def test_a_key_is_the_same_for_the_same_question(cache):
    assert key(cache) == key(cache)
    assert key(cache).startswith("pf_") and len(key(cache)) == 35


@pytest.mark.parametrize(
    "change",
    [
        {"workload__model": "mistral-7b"},
        {"workload__hidden_size": 4096},
        {"workload__optimizer": "adamw_8bit"},
        {"workload__precision": "fp16"},
        {"workload__method": "lora"},
        {"workload__seq_len": 2049},
        {"workload__micro_batch_per_gpu": 2},
        {"workload__grad_accum": 4},
        {"workload__activation_checkpointing": True},
        {"resources__gpu_type": "a100-80gb"},
        {"resources__vram_gb": 94},
        {"resources__gpus": 4},
    ],
    ids=str,
)
def test_what_determines_the_numbers_changes_the_key(cache, change):
    assert key(cache, **change) != key(cache)


@pytest.mark.parametrize(
    "change",
    [
        {"workload__train_tokens_m": 2000},
        {"workload__seq_len": 1025},
        {"resources__gpu_type": "H100"},
        {"resources__hourly_cost_usd_per_gpu": 2.5},
        {"objective__deadline_minutes": 100000},
    ],
    ids=str,
)
def test_what_does_not_determine_the_numbers_leaves_the_key(cache, change):
    assert key(cache, **change) == key(cache)


def test_a_version_of_a_framework_changes_the_key(cache, monkeypatch):
    before = key(cache)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0")
    assert key(cache) != before
    assert key(cache, backend="torch") != key(cache, backend="numpy")


@pytest.mark.parametrize(
    ("count", "power"), [(None, None), (1, 1), (2, 2), (3, 4), (1024, 1024), (1025, 2048), (2**20 - 1, 2**20)]
)
def test_a_bucket_is_the_next_power_of_two(count, power):
    assert bucket(count) == power


@pytest.mark.parametrize("value", [None, {}, "profiled"])
def test_only_a_result_is_kept(cache, value):
    with pytest.raises(InvalidInput, match="result"):
        cache.put("pf_1", value)
    assert not cache._database.path.exists()


def test_a_file_of_another_kind_is_refused_and_not_touched(tmp_path):
    from engine.resources import ResourceKey, ResourceStore

    path = tmp_path / "resources.db"
    ResourceStore(path).record(ResourceKey("t", "m"), {"peak_gb": 1, "workers": 1}, 0.5)
    before = path.read_bytes()
    with pytest.raises(FileProblem, match="not a profile cache"):
        ProfileCache(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["not json", '{"measured_steps": 0, "warmup_steps": 0}', "[]"])
def test_a_profile_that_cannot_be_read_is_named(cache, text):
    cache.put("pf_1", RESULT)
    with sqlite3.connect(cache._database.path) as connection:
        connection.execute("UPDATE profiles SET result = ?", (text,))
    connection.close()
    with pytest.raises(FileProblem, match="pf_1"):
        cache.get("pf_1")


def test_a_profile_without_a_checkpoint_has_no_write_time():
    with pytest.raises(NoAnswer, match="no checkpoint"):
        RESULT.checkpoint_write("1 GB")
