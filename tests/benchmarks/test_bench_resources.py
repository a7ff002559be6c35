"""What a report and a question cost: a connection, a lock and a transaction each."""

import pytest

from engine.resources import ResourceKey, ResourceStore

KEY = ResourceKey("embed", "bge-small", "512")


@pytest.fixture
def store(tmp_path):
    store = ResourceStore(tmp_path / "resources.db")
    for n in range(2000):
        store.record(KEY, {"peak_gb": 4.5, "workers": 4}, 0.5, oom=n % 7 == 0, run=str(n // 3))
    return store


def test_record(benchmark, store):
    benchmark(store.record, KEY, {"peak_gb": 4.5, "workers": 4}, 0.5)


def test_resolve_from_two_thousand_reports(benchmark, store):
    assert benchmark(store.resolve, KEY).samples == 20


def test_open(benchmark, store):
    benchmark(ResourceStore, store._database.path)
