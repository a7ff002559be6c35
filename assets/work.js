// Saving, opening and starting afresh. Traits: html, home, record (what the kernel knows of this work),
// opened {serial, name, text} (out), answer {serial, sentence, pieces} (in: pieces is null when refused).
import { mount, send } from "./mount.js";
import { Store, isRecord, keepNow, onNotice } from "./store.js";

const BEFORE = "before-opening";
const PIECES = ["act", "draft", "levers", "rationale", "sealed"];

// The record to save: what the kernel computed, with what the browser holds at this moment.
export function record(base, store, now) {
  return {
    ...base,
    saved_at: now.toISOString(),
    levers: { ...base.levers, ...store.read("levers", {}, isRecord) },
    sealed: { ...base.sealed, ...store.read("sealed", {}, isRecord) },
    rationale: { ...base.rationale, ...store.read("rationale", {}, isRecord) },
  };
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function wire(root, model) {
  const store = new Store(model.get("home")), find = selector => root.querySelector(selector);
  const status = find(".fl-status"), ask = find(".fl-ask"), file = find("input[type=file]");
  let serial = 0;
  const say = sentence => { status.textContent = sentence; status.hidden = !sentence; };

  find("[data-do=save]").addEventListener("click", () => {
    keepNow();
    const now = new Date(), base = model.get("record");
    const name = `fleetlab-${base.lab}-${base.student.replace(/[^\w-]+/g, "_")}.json`;
    download(name, `${JSON.stringify(record(base, store, now), null, 1)}\n`);
    say(`Saved as ${name}.`);
  });
  find("[data-do=open]").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    serial += 1;
    send(model, { opened: { serial, name: chosen.name, text: await chosen.text() } });
    file.value = "";
  });
  find("[data-do=fresh]").addEventListener("click", () => { ask.hidden = false; ask.querySelector("button").focus(); });
  find("[data-do=keep]").addEventListener("click", () => { ask.hidden = true; find("[data-do=fresh]").focus(); });
  find("[data-do=clear]").addEventListener("click", () => {
    keepNow();  // so that nothing is left to be kept when the page goes
    store.clear([...PIECES, BEFORE]);
    location.reload();
  });

  function answered() {
    const { sentence, pieces } = model.get("answer");
    if (isRecord(pieces)) {
      store.write(BEFORE, Object.fromEntries(PIECES.map(piece => [piece, store.read(piece, null)])));
      for (const [piece, value] of Object.entries(pieces)) store.write(piece, value);
    }
    say(sentence);
  }
  model.on("change:answer", answered);
  const quiet = onNotice(say);
  return () => { model.off("change:answer", answered); quiet(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
