"""What a student does on the page of a lab. Waits are on what the page says, never on time."""

import json

_FIND = """
const find = (root, selector) => root.querySelector(selector) ??
    [...root.querySelectorAll("*")].map(e => e.shadowRoot && find(e.shadowRoot, selector)).find(Boolean);
"""


class LabPage:
    """One page; selectors pierce the widgets' shadow roots."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.errors, self.requests, self.received = [], [], []
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda data: self.received.append(data))
        )

    def open(self, query=""):
        self.page.goto(self.url + query)
        return self.ready()

    def reload(self):
        self.page.reload()
        return self.ready()

    def ready(self):
        for place in (
            "[data-zone=work] [data-do=save]",
            "[data-zone=why] textarea",
            "[data-zone=lever] .fl-lever",
        ):
            try:
                self.page.locator(place).first.wait_for()
            except Exception as error:
                words = " ".join(self.text().split())
                raise AssertionError(
                    f"{place} does not appear; errors: {self.errors}; page: {words}"
                ) from error
        return self

    def find(self, expression, selector, arg=None):
        """Evaluate `expression`, a function of an element and `arg`, on the first element in any shadow root."""
        script = f"([selector, arg]) => {{ {_FIND} return ({expression})(find(document, selector), arg); }}"
        return self.page.evaluate(script, [selector, arg])

    # ---- the prediction ----
    def seal(self, value="6", unit="h", why="Somebody must finish first."):
        form = self.page.locator("form.fl-prediction")
        form.locator("[name=value]").fill(value)
        form.locator("[name=unit]").select_option(unit)
        form.locator("[name=why]").fill(why)
        form.locator("button").click()
        return self.opened()

    def opened(self):
        """Wait until the telemetry is open and shown."""
        self.painted()
        self.page.locator(".fl-value").first.wait_for()
        self.page.locator("[data-chart=price] .js-plotly-plot .xtick").first.wait_for()
        return self

    # ---- the levers ----
    @property
    def canvas(self):
        return self.page.locator("[data-zone=map] canvas")

    def epoch(self):
        return int(self.canvas.get_attribute("data-epoch") or 0)

    def painted(self, after=0):
        """Wait until the map shows a setting later than `after`; return its epoch."""
        script = (
            f"after => {{ {_FIND} return Number(find(document, 'canvas')?.dataset.epoch ?? 0) > after; }}"
        )
        self.page.wait_for_function(script, arg=after)
        return self.epoch()

    def press(self, name):
        """Press one key on a lever: the arrow to the next choice, or space on a switch."""
        before = self.epoch()
        box = self.page.locator(f"[data-zone=lever] [data-name={name}]")
        choice = box.get_attribute("data-lever") == "choice"
        target = box.locator("input:checked" if choice else "input").first
        target.focus()
        target.press("ArrowRight" if choice else "Space")
        self.painted(before)

    def shows(self, levers, act="audit"):
        """Wait until every zone shows this setting."""
        stamp = json.dumps([act, dict(sorted(levers.items()))])
        for zone in ("map", "cards", "chart", "log"):
            place = f"[data-zone={zone}][data-setting='{stamp}']"
            self.page.locator(place).wait_for(state="attached")
        script = f"""stamp => {{ {_FIND}
            const drawn = zone => find(document, `[data-zone=${{zone}}]`).dataset.setting === stamp;
            return drawn("chart") && find(document, "[data-zone=cards]") && find(document, ".fl-value"); }}"""
        self.page.wait_for_function(script, arg=stamp)

    def choose_act(self, act):
        self.page.locator(f".fl-act[data-act={act}]").click()
        self.page.locator(f".fl-act[data-act={act}][aria-selected=true]").wait_for()

    # ---- what it says ----
    def cards(self):
        """What each ledger card shows, by its name."""
        cards = self.page.locator(".fl-card")
        return {
            cards.nth(i).get_attribute("data-card"): cards.nth(i).locator(".fl-value").inner_text()
            for i in range(cards.count())
        }

    def badges(self):
        """The state and the words of each badge, by its name."""
        badges = self.page.locator(".fl-badge")
        return {
            badges.nth(i).get_attribute("data-badge"): (
                badges.nth(i).get_attribute("data-met"),
                badges.nth(i).locator(".fl-badge-rule").inner_text(),
            )
            for i in range(badges.count())
        }

    def log(self):
        return self.page.locator(".fl-log li p").all_inner_texts()

    def plotted(self, chart):
        """The traces that plotly drew for a chart, as plain lists."""
        plain = """gd => gd.data.map(({ x, y, hovertext }) => ({ x: [...x], y: [...y], hovertext }))"""
        return self.page.locator(f"[data-chart={chart}] .js-plotly-plot").evaluate(plain)

    def status(self):
        return self.page.locator("[data-zone=work] .fl-status").inner_text()

    def stored(self, piece):
        """What the browser's storage holds for a piece, or None."""
        script = (
            "piece => Object.entries(localStorage).find(([key]) => key.endsWith(`:${piece}`))?.[1] ?? null"
        )
        found = self.page.evaluate(script, piece)
        return None if found is None else json.loads(found)

    def text(self):
        """All text of the page, with that inside shadow roots and in attributes that are read out."""
        return self.page.evaluate(
            """() => {
                const parts = [];
                const walk = node => {
                    if (node.nodeType === Node.TEXT_NODE) return parts.push(node.textContent);
                    if (["STYLE", "SCRIPT"].includes(node.nodeName)) return;
                    for (const name of ["aria-label", "aria-valuetext", "title", "placeholder"]) {
                        if (node.getAttribute?.(name)) parts.push(node.getAttribute(name));
                    }
                    if (node.shadowRoot) node.shadowRoot.childNodes.forEach(walk);
                    node.childNodes.forEach(walk);
                };
                walk(document.body);
                return parts.join("\\n");
            }"""
        )
