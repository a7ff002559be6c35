"""What a student does on the page of a lab. Waits are on what the page says, never on time."""

import json

_FIND = """
const find = (root, selector) => root.querySelector(selector) ??
    [...root.querySelectorAll("*")].map(e => e.shadowRoot && find(e.shadowRoot, selector)).find(Boolean);
const reach = path => path.split(" >>> ").reduce((root, selector) => root && find(root, selector), document);
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

    def find(self, expression, path, arg=None):
        """Evaluate a function of an element and `arg`; a path is selectors apart by ` >>> `, in any root."""
        script = f"([path, arg]) => {{ {_FIND} return ({expression})(reach(path), arg); }}"
        return self.page.evaluate(script, [path, arg])

    def until(self, expression, path, arg=None):
        """Wait until a function of an element and `arg` is true."""
        script = f"([path, arg]) => {{ {_FIND} const e = reach(path); return e && ({expression})(e, arg); }}"
        self.page.wait_for_function(script, arg=[path, arg])

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
        self.until("(canvas, after) => Number(canvas.dataset.epoch ?? 0) > after", "canvas", after)
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
        self.page.locator(".fl-value").first.wait_for()

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
        plain = "gd => gd.data.map(({ x, y, hovertext }) => ({ x: [...x], y: [...y], hovertext }))"
        return self.page.locator(f"[data-chart={chart}] .js-plotly-plot").evaluate(plain)

    def plots(self, chart, trace, says):
        """Wait until plotly has drawn a chart whose trace says these texts on hover."""
        same = """(gd, [trace, says]) => {
            const { text, hovertext } = gd.data[trace];
            return JSON.stringify(text ?? hovertext) === JSON.stringify(says); }"""
        self.until(same, f"[data-chart={chart}] >>> .js-plotly-plot", [trace, list(says)])

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
