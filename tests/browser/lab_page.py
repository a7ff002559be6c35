"""What a student does on the page of a lab, in the words of the lab. Waits are on what the page says, never on time."""

import json


class LabPage:
    """One page; selectors pierce the widgets' shadow roots."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.errors, self.requests = [], []
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, query=""):
        self.page.goto(self.url + query)
        self.page.locator("[data-zone=work] [data-do=save]").wait_for()
        self.page.locator("[data-zone=why] textarea").wait_for()
        return self

    def seal(self, value, unit, why):
        form = self.page.locator("form.fl-prediction")
        form.locator("[name=value]").fill(value)
        form.locator("[name=unit]").select_option(unit)
        form.locator("[name=why]").fill(why)
        form.locator("button").click()
        self.painted()

    @property
    def canvas(self):
        return self.page.locator("[data-zone=map] canvas")

    def epoch(self):
        return int(self.canvas.get_attribute("data-epoch") or 0)

    def painted(self, after=0):
        """Wait until the map shows a setting later than `after`; return its epoch."""
        self.page.wait_for_function(
            """after => {
                const find = root => root.querySelector("canvas[data-epoch]") ??
                    [...root.querySelectorAll("*")].map(e => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
                return Number(find(document)?.dataset.epoch ?? 0) > after;
            }""",
            arg=after,
        )
        return self.epoch()

    def charted(self):
        """Wait until cards and charts are on the page."""
        self.page.locator(".fl-value").first.wait_for()
        self.page.locator("[data-chart] .js-plotly-plot .xtick").first.wait_for()

    def lever(self, name):
        return self.page.locator(f"[data-zone=lever] [data-name={name}] input")

    def press(self, name, key=None):
        """Press one key on a lever: the arrow to the next choice, or space on a switch."""
        before = self.epoch()
        box = self.page.locator(f"[data-zone=lever] [data-name={name}]")
        target = box.locator("input:checked" if box.get_attribute("data-lever") == "choice" else "input").first
        target.focus()
        target.press(key or ("ArrowRight" if box.get_attribute("data-lever") == "choice" else "Space"))
        self.painted(before)

    def choose_act(self, act):
        self.page.locator(f".fl-act[data-act={act}]").click()
        self.page.locator(f".fl-act[data-act={act}][aria-selected=true]").wait_for()
        self.page.locator("[data-zone=coming]:not([hidden])" if act != "audit" else "[data-zone=coming][hidden]").wait_for(
            state="attached"
        )

    def stored(self, piece):
        """What the browser's storage holds for a piece, or None."""
        found = self.page.evaluate("piece => Object.entries(localStorage).find(([key]) => key.endsWith(':' + piece))?.[1] ?? null", piece)
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
