"""Take pictures of the cockpit to be looked at: `python tests/browser/screenshots.py OUT_DIR`."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
from lab_page import LabPage
from lab_server import FLAGS, LabServer, chromium

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
            lab.page.set_viewport_size(
                {"width": width, "height": lab.page.evaluate("document.querySelector('#App').scrollHeight")}
            )
        lab.page.screenshot(path=folder / f"{state}-{width}x{height}-{scheme}.png")

    shoot("1-predict")
    lab.seal("6", "h", "Somebody must finish first.")
    lab.charted()
    shoot("2-sealed")
    lab.press("migrate")
    lab.charted()
    shoot("3-after-migrate")
    lab.choose_act("gamble")
    shoot("4-locked-act")
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"))
