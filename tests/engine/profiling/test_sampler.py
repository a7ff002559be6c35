import os
import subprocess
import sys
import time

import pytest

from engine.errors import InvalidInput, NoAnswer
from engine.profiling import MemorySampler, sampler
from engine.profiling.sampler import anonymous_bytes

HOLD = "block = bytearray({megabytes} * 10**6); print('ready', flush=True); import time; time.sleep(60)"


def started(program):
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    return process


def test_memory_that_a_program_allocates_is_seen():
    small, large = started(HOLD.format(megabytes=1)), started(HOLD.format(megabytes=151))
    try:
        difference = anonymous_bytes(large.pid) - anonymous_bytes(small.pid)
        assert difference == pytest.approx(150e6, rel=0.02)
    finally:
        for process in (small, large):
            process.kill()
            process.communicate()


def test_children_and_their_children_are_counted():
    inner = HOLD.format(megabytes=100)
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    outer = started(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}])")
    try:
        alone = sampler._process_bytes(outer.pid)
        assert anonymous_bytes(outer.pid) - alone > 100e6
        with MemorySampler(outer.pid) as watched:
            pass
        assert watched.peak_gb > 0.1
    finally:
        for child in sampler._descendants(outer.pid):
            os.kill(child, 9)
        outer.kill()
        outer.communicate()


def test_a_peak_stays_after_the_memory_is_gone():
    with MemorySampler(every_s=0.01) as watched:
        before = watched.peak_gb
        block = bytearray(200_000_000)
        time.sleep(0.3)
        del block
        time.sleep(0.05)
    assert watched.peak_gb - before == pytest.approx(0.2, abs=0.04)
    assert watched.samples > 5


def test_mapped_files_do_not_count(tmp_path):
    import mmap

    path = tmp_path / "large"
    path.write_bytes(bytes(100_000_000))
    before = anonymous_bytes(os.getpid())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert sum(mapped[at] for at in range(0, len(mapped), 4096)) == 0
        assert anonymous_bytes(os.getpid()) - before < 20e6


def test_a_name_with_parentheses_does_not_hide_a_child(tmp_path):
    odd = tmp_path / ") R 1 (x"
    odd.symlink_to(sys.executable)
    child = subprocess.Popen([str(odd), "-c", "print('ready', flush=True); input()"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    try:
        child.stdout.readline()
        assert child.pid in sampler._descendants(os.getpid())
    finally:
        child.kill()
        child.communicate()


def test_a_process_that_ends_leaves_its_peak():
    process = started(HOLD.format(megabytes=50))
    with MemorySampler(process.pid, every_s=0.01) as watched:
        process.kill()
        process.communicate()
        time.sleep(0.05)
    assert watched.peak_gb > 0.05
    assert not watched._thread.is_alive()


def test_a_process_that_does_not_run_is_refused():
    process = started("print('ready')")
    process.communicate()
    with pytest.raises(InvalidInput, match="pid"):
        MemorySampler(process.pid)
    for pid in (0, -1, "self"):
        with pytest.raises(InvalidInput, match="pid"):
            MemorySampler(pid)
    with pytest.raises(InvalidInput, match="every_s"):
        MemorySampler(every_s=0)


def test_elsewhere_than_on_linux_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(sampler, "_PROC", tmp_path)
    with pytest.raises(NoAnswer, match="only Linux"):
        MemorySampler()
