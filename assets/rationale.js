// The rationale box, one text an act: kept in the browser 300 ms after the last key, and when the page goes.
// Traits: html, act (whose text is shown), texts {act: text}, home.
import { mount, send } from "./mount.js";
import { KEEP, Store, isRecord } from "./store.js";

const PAUSE_MS = 300;

function wire(root, model) {
  const store = new Store(model.get("home"));
  const area = root.querySelector("textarea"), count = root.querySelector(".fl-count"), saved = root.querySelector(".fl-saved");
  let timer = 0, dirty = false, act = model.get("act");

  const words = () => {
    const n = area.value.trim() ? area.value.trim().split(/\s+/).length : 0;
    count.textContent = n === 1 ? "1 word" : `${n.toLocaleString("en")} words`;
  };
  function keep() {
    clearTimeout(timer);
    if (!dirty) return;
    dirty = false;
    const texts = { ...store.read("rationale", model.get("texts"), isRecord), [act]: area.value };
    send(model, { texts });
    const kept = store.write("rationale", texts);
    saved.textContent = kept ? `Kept in this browser, ${new Date().toTimeString().slice(0, 5)}` : "Not kept: use “Save my work”";
    saved.dataset.state = kept ? "kept" : "blocked";
  }
  function show() {
    keep();
    act = model.get("act");
    const texts = store.read("rationale", model.get("texts"), isRecord);
    if (typeof texts[act] === "string" && texts[act] !== area.value) area.value = texts[act];
    else if (!(act in texts)) area.value = "";
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
  const unwatch = store.watch("rationale", changed);
  show();
  return () => { 
    keep();
    for (const event of ["pagehide", KEEP]) removeEventListener(event, keep);
    model.off("change:act", show);
    unwatch();
  };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
