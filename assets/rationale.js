// The rationale box, one text an act: kept in the browser 300 ms after the last key, and when the page goes.
// Traits: html, act (whose text is shown), sealed (whether its prediction is), texts {act: text}, home.
import { mount, send } from "./mount.js";
import { KEEP, Store } from "./store.js";

const PAUSE_MS = 300;

// How many words there are, how many make the act done, and what opens then.
export function progress(text, { least, opens }, sealed) {
  const n = text.trim() ? text.trim().split(/\s+/).length : 0;
  if (n < Number(least)) return `${n} of ${least} words${opens ? ` to open ${opens}` : ""}`;
  const then = sealed ? "is open" : "opens at the seal";
  return `${n.toLocaleString("en")} words${opens ? `; ${opens} ${then}` : ""}`;
}

function wire(root, model) {
  const store = new Store(model.get("home"));
  const area = root.querySelector("textarea"), count = root.querySelector(".fl-count"), saved = root.querySelector(".fl-saved");
  let timer = 0, dirty = false, act = model.get("act");

  const words = () => { count.textContent = progress(area.value, count.dataset, model.get("sealed")); };
  function keep() {
    clearTimeout(timer);
    if (!dirty) return;
    dirty = false;
    const texts = { ...store.read("rationale", model.get("texts")), [act]: area.value };
    send(model, { texts });
    const kept = store.write("rationale", texts);
    saved.textContent = kept ? `Kept in this browser, ${new Date().toTimeString().slice(0, 5)}` : "Not kept: use “Save my work”";
    saved.dataset.state = kept ? "kept" : "blocked";
  }
  function show() {
    keep();
    act = model.get("act");
    const texts = store.read("rationale", model.get("texts"));
    if (area.value !== (texts[act] ?? "")) area.value = texts[act] ?? "";
    if (JSON.stringify(texts) !== JSON.stringify(model.get("texts"))) send(model, { texts });
    words();
  }
  const typed = () => {
    dirty = true;
    saved.dataset.state = "typing";
    words();
    clearTimeout(timer);
    timer = setTimeout(keep, PAUSE_MS);
  };
  const changed = () => { if (!dirty) show(); };
  area.addEventListener("input", typed);
  for (const event of ["pagehide", KEEP]) addEventListener(event, keep);
  model.on("change:act", show);
  model.on("change:sealed", words);
  const unwatch = store.watch("rationale", changed);
  show();
  return () => {
    keep();
    for (const event of ["pagehide", KEEP]) removeEventListener(event, keep);
    model.off("change:act", show);
    model.off("change:sealed", words);
    unwatch();
  };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
