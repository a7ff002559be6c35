"""The fleet map: its markup and the picture that the script paints."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from labs.cockpit.markup import tag
from labs.cockpit.stage import Scene, Stage
from labs.cockpit.views import view

_KEYS = (("busy", "working"), ("big", ""), ("idle", "idle"), ("dead", "failed"))


def fleet_panel(scene: Scene) -> Markup:
    """Return the map's frame: legend, canvas, readout and scrubber. Its pixels come with the picture."""
    name = view(scene.act).big_job(scene.as_found) if scene.ready else "the big job"
    legend = [
        tag(
            "li",
            tag("i", class_=f"fl-key fl-key-{key}"),
            tag("span", words or name),
            tag("b", data_count=key),
            hidden=not (words or name),
        )
        for key, words in _KEYS
    ]
    swatches = [tag("i", class_=f"fl-swatch fl-key-{key}") for key in ("gutter", "cross")]
    canvas = tag("canvas", tabindex=0, role="img", aria_label="Fleet map", aria_describedby="fl-readout")
    cursor = tag("i", class_="fl-cursor", hidden=True, aria_hidden="true")
    readout = tag(
        "p", "Point at a GPU, or use the arrow keys", class_="fl-readout", id="fl-readout", aria_live="polite"
    )
    scrub = tag(
        "div",
        tag("button", type="button", aria_label="Play"),
        tag("span", tag("input", type="range", min=0, max=1, value=0, aria_label="Moment"), class_="fl-rail"),
        tag("output"),
        class_="fl-scrub",
    )
    return tag(
        "div",
        tag(
            "div",
            tag("h2", "Fleet map"),
            tag("ul", legend, class_="fl-legend"),
            swatches,
            class_="fl-panel-head",
        ),
        tag("div", canvas, cursor, class_="fl-stage"),
        readout,
        scrub,
        class_="fl-fleet",
    )


def picture(stage: Stage, epoch: int) -> dict[str, Any]:
    """Return what the map's script paints; empty before a prediction is sealed.

    `epoch` counts the settings shown, so that a painted map tells which one it is.
    """
    if not stage.open:
        return {}
    fleet, shown = stage.outcome.fleet_map, view(stage.act).shown_frame(stage.outcome)
    size = len(fleet.cells) // len(fleet.labels)
    return {
        "epoch": epoch,
        "shape": fleet.shape.model_dump(),
        "frames": compressed(fleet.cells),
        "now": fleet.cells[shown * size : (shown + 1) * size],
        "labels": list(fleet.labels),
        "hours": list(fleet.hours),
        "shown": shown,
        "big": view(stage.act).big_job(stage.outcome),
    }


@lru_cache(maxsize=64)
def compressed(cells: bytes) -> bytes:
    """Return the packed states, deflated: once per history, for every visit and every press that shows it."""
    return zlib.compress(cells, level=6)
