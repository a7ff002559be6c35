// The tab bar of the acts. Traits: html, act (the chosen one), home. Arrow keys move, as in any tab bar.
import { mount, send } from "./mount.js";
import { Store } from "./store.js";

function wire(root, model) {
  const store = new Store(model.get("home"));
  const tabs = [...root.querySelectorAll("[role=tab]")];
  const known = tabs.map(tab => tab.dataset.act);

  function show() {
    for (const tab of tabs) {
      const chosen = tab.dataset.act === model.get("act");
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
  }
  function choose(act) {
    if (act === model.get("act")) return;
    send(model, { act });
    store.write("act", act);
    show();
  }
  root.addEventListener("click", event => {
    const tab = event.target.closest("[role=tab]");
    if (tab) choose(tab.dataset.act);
  });
  root.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(known.indexOf(model.get("act")) + step + tabs.length) % tabs.length];
    choose(next.dataset.act);
    next.focus();
  });
  const restore = () => choose(store.read("act", model.get("act"), act => known.includes(act)));
  model.on("change:act", show);
  const unwatch = store.watch("act", restore);
  restore();
  show();
  return () => { model.off("change:act", show); unwatch(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
