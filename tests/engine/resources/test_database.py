"""A file that is not a usable store is refused in a sentence and left byte for byte as it was."""

import sqlite3

import pytest

from engine.errors import FileProblem, InvalidInput
from engine.resources import ResourceKey, ResourceStore

KEY = ResourceKey("embed", "bge-small")
REPORT = {"peak_gb": 4.5, "workers": 4}


def filled(path, count=200):
    store = ResourceStore(path)
    for n in range(count):
        store.record(KEY, REPORT, 0.5, run=f"run-{n}")
    return path.read_bytes()


def text_file(path):
    path.write_text("these are notes, not a database\n" * 20)


def short_file(path):
    path.write_bytes(b"SQLite")


def foreign_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
        connection.execute("INSERT INTO photos VALUES ('beach')")


def newer_version(path):
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
        connection.execute("ALTER TABLE uses ADD COLUMN novelty TEXT")


def cut_in_half(path):
    content = filled(path)
    path.write_bytes(content[: len(content) // 2])


def overwritten_pages(path):
    content = bytearray(filled(path))
    content[4096:] = b"\x5a" * (len(content) - 4096)
    path.write_bytes(content)


def overwritten_leaf(path):
    content = bytearray(filled(path))
    content[-4096:] = b"\xa5" * 4096
    path.write_bytes(content)


def zeroed_header(path):
    content = bytearray(filled(path))
    content[:100] = bytes(100)
    path.write_bytes(content)


def missing_table(path):
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE uses")
        connection.execute("CREATE TABLE other (x)")


DAMAGES = [
    (text_file, "no SQLite database"),
    (short_file, "no SQLite database"),
    (foreign_database, "not a resource store"),
    (newer_version, "version 2, and this Fleetlab reads up to 1"),
    (cut_in_half, "cannot be used|damaged"),
    (overwritten_pages, "cannot be used|damaged"),
    (overwritten_leaf, "cannot be used|damaged"),
    (zeroed_header, "no SQLite database"),
    (missing_table, "no such table|damaged"),
]
CALLS = [
    lambda path: ResourceStore(path).record(KEY, REPORT, 0.5),
    lambda path: ResourceStore(path).resolve(KEY),
    lambda path: ResourceStore(path).keys(),
]


@pytest.mark.parametrize("call", CALLS, ids=["record", "resolve", "keys"])
@pytest.mark.parametrize(("damage", "words"), DAMAGES, ids=[damage.__name__ for damage, _ in DAMAGES])
def test_a_file_that_cannot_be_used_is_named_and_not_touched(tmp_path, damage, words, call):
    path = tmp_path / "resources.db"
    damage(path)
    before, beside = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(FileProblem, match=words) as raised:
        call(path)
    assert "resources.db" in str(raised.value) and "was not changed" in str(raised.value)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == beside


@pytest.mark.parametrize("damage", [newer_version, cut_in_half, overwritten_pages, text_file])
def test_damage_after_opening_is_noticed_too(tmp_path, damage):
    path, spare = tmp_path / "resources.db", tmp_path / "spare.db"
    filled(path, 200)
    store = ResourceStore(path)
    damage(spare)
    before = spare.read_bytes()
    path.write_bytes(before)
    with pytest.raises(FileProblem):
        store.record(KEY, REPORT, 0.5)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "resources.db"
    path.touch()
    store = ResourceStore(path)
    assert store.resolve(KEY).samples == 0
    store.record(KEY, REPORT, 0.5)
    assert store.resolve(KEY).samples == 1


def test_a_folder_or_a_missing_folder_is_a_clear_error(tmp_path):
    with pytest.raises(FileProblem, match="cannot be read"):
        ResourceStore(tmp_path)
    with pytest.raises(FileProblem, match="unable to open"):
        ResourceStore(tmp_path / "missing" / "resources.db").record(KEY, REPORT, 0.5)


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_store_is_a_file(path):
    with pytest.raises(InvalidInput, match="path"):
        ResourceStore(path)


def test_a_failed_record_leaves_nothing_behind(tmp_path):
    path = tmp_path / "résumé #1?.db"
    store = ResourceStore(path)
    with pytest.raises(RuntimeError), store._database.writing() as connection:
        connection.execute("DELETE FROM uses")
        raise RuntimeError
    store.record(KEY, REPORT, 0.5)
    with pytest.raises(RuntimeError), store._database.writing() as connection:
        connection.execute("DELETE FROM uses")
        raise RuntimeError
    assert path.exists() and store.resolve(KEY).samples == 1
