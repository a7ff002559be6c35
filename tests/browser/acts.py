"""What a student does to get from act to act, and with the levers of Acts II and III."""

from engine.missions import load_mission

PLAN = load_mission("08")
WHY = "Migrating costs a pause and a tax, killing costs work."
GUESSES = {"audit": ("6", "h"), "gamble": ("30", "min"), "rescale": ("90", "%")}


def settle(lab, act, **levers):
    """Wait until every zone shows this setting of an act, and plotly has drawn its charts."""
    lab.shows(PLAN.start_values(act) | levers, act)
    for chart in PLAN.act(act).levers[next(iter(PLAN.act(act).levers))].charts:
        lab.page.locator(f"[data-chart={chart}] .js-plotly-plot .main-svg").first.wait_for()


def predict(lab, act):
    """Seal the prediction of the act that is on stage."""
    form = lab.page.locator(f"form.fl-prediction[data-act={act}]")
    value, unit = GUESSES[act]
    form.locator("[name=value]").fill(value)
    form.locator("[name=unit]").select_option(unit)
    form.locator("[name=why]").fill("It must be about that.")
    form.locator("button").click()
    settle(lab, act)


def argue(lab, opens, text=WHY):
    """Write a rationale, and wait until the act that it opens has opened."""
    lab.page.locator("[data-zone=why] textarea").fill(text)
    lab.page.locator(f".fl-act[data-act={opens}][data-state=open]").wait_for()


def ask(lab, act):
    """Go to an open act, up to its prediction form."""
    lab.choose_act(act)
    lab.page.locator(f"form.fl-prediction[data-act={act}]").wait_for()
    lab.page.locator(f"[data-name={next(iter(PLAN.act(act).levers))}]").wait_for()


def reach(lab, act):
    """Play the acts before this one, up to its prediction form."""
    for before, after in (("audit", "gamble"), ("gamble", "rescale")):
        if before == act:
            return
        predict(lab, before)
        argue(lab, after)
        ask(lab, after)


def slide(lab, lever, steps, act="gamble"):
    """Press an arrow key on a slider `steps` times, left if negative; return the value that it ends on."""
    slider = lab.page.locator(f"[data-name={lever}] input[type=range]")
    slider.focus()
    for _ in range(abs(steps)):
        slider.press("ArrowRight" if steps > 0 else "ArrowLeft")
    return slider.get_attribute("aria-valuetext")


def type_value(lab, lever, text):
    """Type a value beside a slider; return what stands there afterwards, and what is wrong with it."""
    typed = lab.page.locator(f"[data-name={lever}] .fl-typed")
    typed.fill(text)
    typed.press("Enter")
    return typed.input_value(), lab.page.locator(f"[data-name={lever}] .fl-lever-error").inner_text()


def choose(lab, lever, value):
    """Choose an option by arrow keys, as a student without a mouse does."""
    box = lab.page.locator(f"[data-name={lever}]")
    for _ in PLAN.levers[lever].values:
        chosen = box.locator("input:checked")
        if chosen.get_attribute("value") == value:
            return
        chosen.focus()
        chosen.press("ArrowRight")
    raise AssertionError(f"{value} cannot be reached on {lever}")
