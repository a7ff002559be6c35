import os
import pty
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing, contextmanager, nullcontext

import pytest
from typer.testing import CliRunner

from engine.errors import NoAnswer
from engine.paths import shipped
from labs import server
from labs.cli import app

ROOT = shipped("labs").parent
TINY = """
import marimo
app = marimo.App()
@app.cell
def _():
    import marimo as mo
    mo.md(str(mo.cli_args().to_dict()))
    return
"""


def fleetlab(*arguments):
    return CliRunner().invoke(app, list(arguments))


@contextmanager
def taken_port():
    with closing(socket.socket()) as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def free_port():
    with taken_port() as port:
        return port


def answers(port):
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def command(*arguments):
    """Run `fleetlab` as a program does; it ends its server when it is told to end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "labs.cli", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(20)


def test_help_names_every_command_and_imports_none_of_them():
    program = (
        "import sys; from typer.testing import CliRunner; from labs.cli import app\n"
        "print(CliRunner().invoke(app, ['--help']).output)\n"
        "print(*{'engine', 'marimo', 'numpy', 'pint'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert all(name in done.stdout for name in ("run", "labs", "plan", "profile", "resources", "--version"))
    assert done.stderr.strip() == ""


def test_no_command_at_all_shows_the_help():
    assert "Usage:" in fleetlab().output


def test_the_version_is_said():
    shown = fleetlab("--version")
    assert shown.exit_code == 0
    assert shown.output.startswith("fleetlab")


def test_labs_are_listed_from_the_mission_plans():
    shown = fleetlab("labs")
    assert shown.exit_code == 0
    assert "08" in shown.output
    assert "The Fragmentation War" in shown.output


@pytest.mark.parametrize("lab", ["99", "../08", "/etc/passwd", ""])
def test_an_unknown_lab_is_one_sentence_that_lists_the_labs(lab):
    shown = fleetlab("run", lab)
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert shown.stderr.count("\n") == 1
    assert "Known: 08." in shown.stderr


def test_a_port_that_is_taken_is_said_before_anything_starts():
    with taken_port() as port:
        shown = fleetlab("run", "08", "--port", str(port))
    assert shown.exit_code == 2
    assert shown.stderr == f"Port {port} is taken; choose another with --port, or leave it out.\n"


@pytest.mark.parametrize("port", ["0", "65536", "many", "-1"])
def test_a_port_that_is_none_is_refused(port):
    assert fleetlab("run", "08", "--port", port).exit_code == 2


def test_a_host_of_another_machine_is_refused():
    shown = fleetlab("run", "08", "--host", "192.0.2.1")
    assert shown.exit_code == 2
    assert "host: '192.0.2.1' is not accepted" in shown.stderr


def test_without_a_port_the_next_free_one_is_taken(monkeypatch):
    with taken_port() as port:
        monkeypatch.setattr(server, "FIRST_PORT", port)
        assert server.free_port("127.0.0.1", None) > port
        with pytest.raises(NoAnswer, match="taken"):
            server.free_port("127.0.0.1", port)


class Ended:
    """A server that has ended well."""

    def wait(self):
        return 0


@pytest.mark.parametrize("asked", [False, True], ids=["no port asked", "port asked"])
def test_work_under_the_usual_address_is_spoken_of_when_another_had_to_be_chosen(monkeypatch, asked):
    monkeypatch.setattr(server, "served", lambda *_: nullcontext(Ended()))
    with taken_port() as port, kept_signals():
        monkeypatch.setattr(server, "FIRST_PORT", port)
        shown = fleetlab("run", "08", *(["--port", str(free_port())] if asked else []))
    told = shown.stdout.splitlines()
    assert told[-2].startswith("Lab 08, The Fragmentation War: http://127.0.0.1:")
    said = f"Port {port} is taken; work done there stays under that address."
    assert told[:-2] == ([] if asked else [said])
    assert str(port) not in told[-2]


@contextmanager
def kept_signals():
    """Give the test's process its own endings back, which a command that runs inside it takes over."""
    endings = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
    before = {ending: signal.getsignal(ending) for ending in endings}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


@pytest.mark.parametrize("tool", ["plan", "profile", "resources"])
def test_tools_keep_their_own_help_and_their_own_mistakes(tool):
    shown = fleetlab(tool, "--help")
    assert shown.exit_code == 0
    assert "Usage:" in shown.output
    assert f"{tool} [OPTIONS]" in shown.output
    assert fleetlab(tool, "--no-such-option").exit_code == 2


@pytest.mark.parametrize(
    "command", [[], ["run"], ["labs"], ["plan"], ["profile"], ["resources"], ["resources", "show"]]
)
def test_the_short_help_is_the_long_help_and_offers_no_completion(command):
    short, long = fleetlab(*command, "-h"), fleetlab(*command, "--help")
    assert short.exit_code == 0
    assert short.output == long.output
    assert "Usage:" in short.output
    assert "completion" not in short.output


def test_a_bug_is_not_dressed_up_as_a_mistake_of_the_user(monkeypatch):
    monkeypatch.setattr(server, "free_port", lambda host, asked: 1 / 0)
    assert isinstance(fleetlab("run", "08").exception, ZeroDivisionError)


def test_a_server_is_up_inside_the_block_and_gone_after_it(tmp_path):
    notebook = tmp_path / "tiny.py"
    notebook.write_text(TINY)
    port = free_port()
    with server.served(notebook, "127.0.0.1", port, ["--student=ada"]) as process:
        assert answers(port)
        assert urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).status == 200
    assert process.poll() is not None
    assert not answers(port)


def test_a_server_that_cannot_start_says_so(tmp_path):
    with (
        pytest.raises(NoAnswer, match="before it answered"),
        server.served(tmp_path / "none.py", "127.0.0.1", free_port(), []),
    ):
        pass


ENDINGS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("ending", ENDINGS, ids=["Ctrl-C", "terminate", "hang up"])
def test_the_lab_is_served_until_it_is_stopped(ending):
    port = free_port()
    with command("run", "8", "--port", str(port), "--student", "007") as process:
        assert process.stdout.readline() == (
            f"Lab 08, The Fragmentation War: http://127.0.0.1:{port}/?student=007\n"
        )
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read().decode()
        assert "marimo" in page
        os.kill(process.pid, ending)
        assert process.wait(20) == 0
        assert process.stdout.read() == "Ctrl-C stops it.\nStopped.\n"
    assert not answers(port)


@contextmanager
def terminal(*arguments):
    """Run `fleetlab` in a terminal of its own; give the process id and the terminal's end to type into."""
    process, typed = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "labs.cli", *arguments])
    try:
        yield process, typed
    finally:
        os.close(typed)  # hangs up, which ends what still runs


def read_some(typed):
    assert select.select([typed], [], [], 20)[0], "the terminal is silent"
    return os.read(typed, 4096)


def read_until(typed, words):
    shown = b""
    while words not in shown:
        shown += read_some(typed)
    return shown.partition(words)[2]


@pytest.mark.parametrize("key", [b"\x03", b"\x1c"], ids=["Ctrl-C", "Ctrl-backslash"])
def test_a_key_that_ends_the_lab_shows_no_traceback_in_a_terminal(key):
    port = free_port()
    with terminal("run", "8", "--port", str(port)) as (process, typed):
        read_until(typed, b"Ctrl-C stops it.\r\n")
        os.write(typed, key)
        shown = read_until(typed, b"^" + bytes([key[0] + 64]))
        while not shown.endswith(b"Stopped.\r\n"):
            shown += read_some(typed)
        assert shown == b"Stopped.\r\n"
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert not answers(port)
