import pytest

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import FLAGS, LabServer, chromium

SIZE = {"width": 1366, "height": 768}


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium_path():
    found = chromium()
    if found is None:
        pytest.skip("no Chromium: install one or set CHROMIUM=/path/to/it")
    return found


@pytest.fixture(scope="session")
def browser(chromium_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def served_lab(chromium_path, tmp_path_factory):
    """Lab 08, served by a real `marimo run`; what the server wrote is shown with a failure."""
    server = LabServer(log=tmp_path_factory.mktemp("server") / "marimo.log").start()
    yield server
    server.stop()
    print(server.said())


@pytest.fixture
def visit(browser):
    """Open pages of a served lab, each call a browser of its own; they are closed afterwards."""
    contexts = []

    def visit(server, **options):
        context = browser.new_context(**({"viewport": SIZE, "device_scale_factor": 1} | options))
        contexts.append(context)
        return LabPage(context.new_page(), server.url)

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def lab(visit, served_lab):
    """A fresh page of the served lab, as a student sees it first."""
    return visit(served_lab).open()
