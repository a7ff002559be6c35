import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

settings.register_profile("fleetlab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("fleetlab")


def pytest_addoption(parser):
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--run-slow"):
        return
    skip = pytest.mark.skip(reason="slow: give --run-slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared_dir():
    """The folder with real logs and answers beside the checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("FLEETLAB_SHARED", SHARED))
    if not folder.is_dir():
        pytest.skip("../shared is absent")
    return folder
