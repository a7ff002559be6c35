// Saving, opening and starting afresh. Traits: html, home, record (what the kernel knows of this work),
// accepts {levers: {lever: values}, units: {act: units}}, opened {serial, name, text} (out),
// answer {serial, sentence, pieces} (in: pieces is null when refused).
import { mount, send } from "./mount.js";
import { isRecord } from "./pieces.js";
import { Store, keepNow, onNotice } from "./store.js";

const BEFORE = "before-opening";
const PIECES = ["act", "draft", "levers", "rationale", "sealed"];

const only = (record, keep) => Object.fromEntries(Object.entries(record).filter(([name, one]) => keep(one, name)));

// The predictions sealed here: those of the kernel, and those stored that the plan accepts.
export function ownSealed(base, store, { units }) {
  const asked = ({ value }, act) => units[act]?.includes(value.match(/^\d+(?:\.\d+)?(?:e[+-]?\d+)? (.+)$/)?.[1]);
  return { ...only(store.read("sealed", {}), asked), ...base.sealed };
}

// The record to save: what the kernel computed, with what the browser holds at this moment. What the plan
// does not know is left out, so that the file can be opened again.
export function record(base, store, accepts, now) {
  const known = (value, lever) => accepts.levers[lever]?.includes(value), ofAct = (_, act) => act in accepts.units;
  return {
    ...base,
    saved_at: now.toISOString(),
    levers: { ...base.levers, ...only(store.read("levers", {}), known) },
    sealed: ownSealed(base, store, accepts),
    rationale: only({ ...base.rationale, ...store.read("rationale", {}) }, ofAct),
  };
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Keep what was here before the first opening of this visit: a second one must not overwrite it.
const backedUp = new Set();
function backUp(store) {
  if (backedUp.has(store.home)) return;
  backedUp.add(store.home);
  store.write(BEFORE, Object.fromEntries(PIECES.map(piece => [piece, store.read(piece, null)])));
}

function wire(root, model) {
  const store = new Store(model.get("home")), find = selector => root.querySelector(selector);
  const status = find(".fl-status"), ask = find(".fl-ask"), file = find("input[type=file]");
  const say = sentence => { status.textContent = sentence; status.hidden = !sentence; };

  find("[data-do=save]").addEventListener("click", () => {
    keepNow();
    const now = new Date(), base = model.get("record");
    const name = `fleetlab-${base.lab}-${base.student.replace(/[^\w-]+/g, "_")}.json`;
    download(name, `${JSON.stringify(record(base, store, model.get("accepts"), now), null, 1)}\n`);
    say(`Saved as ${name}.`);
  });
  find("[data-do=open]").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    say(`Opening ${chosen.name} …`);
    try {
      send(model, { opened: { serial: Date.now(), name: chosen.name, text: await chosen.text() } });
    } catch {
      say(`${chosen.name} could not be read.`);
    }
    file.value = "";
  });
  find("[data-do=fresh]").addEventListener("click", () => { ask.hidden = false; ask.querySelector("button").focus(); });
  find("[data-do=keep]").addEventListener("click", () => { ask.hidden = true; find("[data-do=fresh]").focus(); });
  find("[data-do=clear]").addEventListener("click", () => {
    keepNow();  // so that nothing is left to be kept when the page goes
    store.clear([...PIECES, BEFORE]);
    location.reload();
  });

  // What was opened takes the place of what is here, but for what is sealed here.
  function take(sentence, pieces) {
    keepNow();
    backUp(store);
    const own = ownSealed(model.get("record"), store, model.get("accepts"));
    for (const [piece, value] of Object.entries({ ...pieces, sealed: { ...pieces.sealed, ...own } })) store.write(piece, value);
    const stays = Object.keys(own).some(act => pieces.sealed[act] && pieces.sealed[act].value !== own[act].value);
    return stays ? `${sentence} What you had sealed here stays as it was.` : sentence;
  }
  function answered() {
    const { sentence, pieces } = model.get("answer");
    say(isRecord(pieces) ? take(sentence, pieces) : sentence);
  }
  model.on("change:answer", answered);
  const quiet = onNotice(say);
  return () => { model.off("change:answer", answered); quiet(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
