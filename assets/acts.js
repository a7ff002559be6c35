// The tab bar of the acts. Traits: html, act (the chosen one), opened (those that may be played), seen (out: opened
// again, so that the kernel sets an act on stage that has just opened), home. Arrow keys move, as in any tab bar.
import { mount, send } from "./mount.js";
import { Store } from "./store.js";

function wire(root, model) {
  const store = new Store(model.get("home"));
  const tabs = [...root.querySelectorAll("[role=tab]")];
  const known = tabs.map(tab => tab.dataset.act);

  function show() {
    const opened = model.get("opened");
    for (const tab of tabs) {
      const chosen = tab.dataset.act === model.get("act"), open = opened.includes(tab.dataset.act);
      tab.dataset.state = open ? "open" : "locked";
      tab.title = open ? "" : tab.dataset.opens;
      tab.querySelector(".fl-act-lock").hidden = open;
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
  const open = () => {
    show();
    if (String(model.get("seen")) !== String(model.get("opened"))) send(model, { seen: model.get("opened") });
  };
  model.on("change:act", show);
  model.on("change:opened", open);
  const unwatch = store.watch("act", restore);
  restore();
  open();
  return () => { model.off("change:act", show); model.off("change:opened", open); unwatch(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
