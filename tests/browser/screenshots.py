"""Take pictures of the cockpit to be looked at: `python tests/browser/screenshots.py OUT_DIR`."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.browser.acts import argue, ask, choose, predict, settle, type_value
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import FLAGS, LabServer, chromium

SIZES = ((1440, 900), (1366, 768), (1366, 641), (390, 844))


def main(folder, sizes=SIZES, schemes=("light", "dark")):
    folder.mkdir(parents=True, exist_ok=True)
    server = LabServer().start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            for width, height in sizes:
                for scheme in schemes:
                    _states(browser, server, folder, width, height, scheme)
            browser.close()
    finally:
        server.stop()


def _states(browser, server, folder, width, height, scheme):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    lab = LabPage(context.new_page(), server.url)
    lab.open()

    def shoot(state):
        if width <= 900:  # the page scrolls inside: show all of it
            tall = lab.page.evaluate("document.querySelector('#App').scrollHeight")
            lab.page.set_viewport_size({"width": width, "height": tall})
        lab.page.wait_for_timeout(400)  # plotly draws again after a change of size
        lab.page.screenshot(path=folder / f"{state}-{width}x{height}-{scheme}.png")
        lab.page.set_viewport_size({"width": width, "height": height})

    _act_one(lab, shoot)
    _act_two(lab, shoot)
    _act_three(lab, shoot)
    context.close()


def _act_one(lab, shoot):
    shoot("1-predict")
    predict(lab, "audit")
    shoot("2-sealed")
    lab.press("migrate")
    settle(lab, "audit", migrate=True)
    shoot("3-after-migrate")
    lab.choose_act("gamble")
    lab.page.locator("[data-zone=coming]").wait_for()
    shoot("4-locked-act")
    lab.choose_act("audit")
    settle(lab, "audit", migrate=True)


def _act_two(lab, shoot):
    argue(lab, "gamble")
    ask(lab, "gamble")
    shoot("5-gamble-predict")
    predict(lab, "gamble")
    shoot("6-gamble-start")
    for state, interval in (
        ("7-gamble-golden", "15 min"),
        ("8-gamble-short", "30 s"),
        ("9-gamble-long", "24 h"),
    ):
        type_value(lab, "interval", interval)
        settle(lab, "gamble", interval=interval)
        shoot(state)


def _act_three(lab, shoot):
    argue(lab, "rescale", "I chose 15 min: the root of 2 times 40 s times 3 h.")
    ask(lab, "rescale")
    shoot("10-rescale-predict")
    predict(lab, "rescale")
    shoot("11-rescale-start")
    for response, layout in (("wait", "8x10x10"), ("spares", "8x4x25"), ("elastic", "8x1x100")):
        choose(lab, "response", response)
        choose(lab, "layout", layout)
        settle(lab, "rescale", response=response, layout=layout)
        shoot(f"12-rescale-{response}-{layout}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"))
