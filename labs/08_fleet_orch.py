import marimo

__generated_with = "0.25.2"
app = marimo.App(
    width="full",
    app_title="Lab 08 · The Fragmentation War",
    css_file="../assets/cockpit.css",
)


@app.cell
def mission():
    import marimo as mo

    import labs.cockpit as cockpit

    plan, _problem = cockpit.mission("08")
    mo.stop(plan is None, cockpit.problem(_problem))
    guest = cockpit.visit(plan, mo.query_params(), mo.cli_args())
    cockpit.play_ahead(plan, guest)
    job_log = mo.ui.anywidget(cockpit.JobLogButton())
    return cockpit, guest, job_log, mo, plan


@app.cell
def own_log(cockpit, guest, job_log, plan):
    visit, _notice = cockpit.on_own_log(plan, guest, job_log.value["chosen"])
    _notice
    return (visit,)


@app.cell
def levers(cockpit, mo, plan, visit):
    acts = mo.ui.anywidget(cockpit.ActTabs(plan, visit))
    prediction = mo.ui.anywidget(cockpit.PredictionForm(plan, visit))
    panel = mo.ui.anywidget(cockpit.LeverPanel(plan, visit))
    why = mo.ui.anywidget(cockpit.Rationale(plan, visit))
    cards, fleet, work = cockpit.Cards(), cockpit.FleetMap(), cockpit.Work(plan, visit)
    return acts, cards, fleet, panel, prediction, why, work


@app.cell
def act(acts, cockpit, plan, prediction, visit):
    _act, _sealed = acts.value["act"], prediction.predictions()
    scene = cockpit.set_scene(plan, visit, _act, _sealed, acts.opened_acts())
    return (scene,)


@app.cell
def outcome(cockpit, panel, scene):
    stage = cockpit.play(scene, panel.value["values"])
    return (stage,)


@app.cell
def header(acts, cockpit, plan, stage):
    _parts = cockpit.title(plan), cockpit.placed(acts), cockpit.badges(stage)
    cockpit.page(cockpit.zone("head", _parts, label="Command header", element="header"))
    return


@app.cell
def crisis(cockpit, prediction, scene):
    prediction.show(scene)
    cockpit.page(
        cockpit.zone("brief", cockpit.crisis(scene), label="The crisis"),
        cockpit.zone("lock", cockpit.placed(prediction), label="Prediction", hidden=not scene.asks),
        cockpit.zone("coming", cockpit.coming(scene), label="Locked act", hidden=scene.ready),
    )
    return


@app.cell
def lever_panel(cockpit, job_log, panel, scene):
    panel.show(scene)
    job_log.show(scene)
    _levers = cockpit.heading("Engineering levers"), cockpit.placed(panel), cockpit.placed(job_log)
    cockpit.page(cockpit.zone("lever", _levers, cockpit.fact_list(scene.act), label="Engineering levers"))
    return


@app.cell
def formula(cockpit, stage):
    _panel = cockpit.formula_panel(stage)
    cockpit.page(cockpit.zone("formula", _panel, label="Formulas", hidden=not _panel, stamp=stage.stamp))
    return


@app.cell
def heatmap(cockpit, fleet, stage):
    fleet.show(stage)
    cockpit.page(cockpit.zone("map", cockpit.placed(fleet), label="Fleet map", hidden=not stage.open, stamp=stage.stamp))
    return


@app.cell
def telemetry(cards, cockpit, stage):
    cards.show(stage)
    _charts, _closed = cockpit.chart_figures(cockpit.charts(stage)), not stage.open
    cockpit.page(
        cockpit.zone("cards", cockpit.placed(cards), label="Ledger", hidden=_closed, stamp=stage.stamp),
        cockpit.zone("chart", _charts, label="Charts", hidden=_closed, stamp=stage.stamp),
    )
    return


@app.cell
def audit_log(cockpit, stage):
    cockpit.page(cockpit.zone("log", cockpit.log(stage), label="Audit trail", stamp=stage.stamp))
    return


@app.cell
def rationale(cockpit, scene, why):
    why.show(scene)
    cockpit.page(cockpit.zone("why", cockpit.placed(why), label="Rationale"))
    return


@app.cell
def progress(acts, cockpit, plan, prediction, why):
    acts.unlock(cockpit.open_acts(plan, prediction.predictions(), why.value["texts"]))
    return


@app.cell
def submission(cockpit, panel, prediction, stage, why, work):
    _levers, _texts = panel.value["values"], why.value["texts"]
    work.show(cockpit.saved_work(stage, prediction.predictions(), _levers, _texts))
    cockpit.page(cockpit.zone("work", cockpit.placed(work), label="My work"))
    return


if __name__ == "__main__":
    app.run()
