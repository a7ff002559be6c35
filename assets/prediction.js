// The prediction form of an act. It offers what was typed; the kernel checks it and seals it once.
// Traits: html (the form of the act), offers (out), sealed {act: prediction} (in), complaint (in), home.
import { mount, send } from "./mount.js";
import { Store } from "./store.js";

// A number as people type it: decimal comma or point, thousands apart by spaces.
export function number(text) {
  const plain = text.trim().replace(/[\s\u00a0\u202f]/g, "").replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}

function noNumber(typed) {
  const not = typed.trim() ? `, not “${typed}”` : "";
  return `Your prediction: give a number of at least 0, such as 2.5${not}.`;
}

function wireForm(root, model, store) {
  const form = root.querySelector("form");
  if (!form) return;
  const act = form.dataset.act, { value, unit, why } = form.elements;
  const draft = store.read("draft", {});
  const typed = draft[act];
  if (typed) {
    value.value = typed.value;
    why.value = typed.why;
    if ([...unit.options].some(option => option.value === typed.unit)) unit.value = typed.unit;
  }
  form.addEventListener("input", () => {
    store.write("draft", { ...draft, [act]: { value: value.value, unit: unit.value, why: why.value } });
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
    const amount = number(value.value), error = form.querySelector(".fl-error");
    const wrong = amount >= 0 ? why.value.trim() ? null : why : value;
    for (const field of [value, why]) field.setAttribute("aria-invalid", String(field === wrong));
    error.textContent = { value: noNumber(value.value), why: "Because: give your reason in one sentence." }[wrong?.name] ?? "";
    if (wrong) return wrong.focus();
    const offer = { act, value: `${amount} ${unit.value}`, why: why.value.trim(), at: new Date().toISOString() };
    send(model, { offers: [offer] });
  });
}

function wire(root, model) {
  const store = new Store(model.get("home"));
  const complain = () => {
    const error = root.querySelector(".fl-error");
    if (error) error.textContent = model.get("complaint");
  };
  const keep = () => {
    const sealed = model.get("sealed");
    if (Object.keys(sealed).length) store.write("sealed", { ...store.read("sealed", {}), ...sealed });
  };
  const restore = () => {
    const stored = store.read("sealed", {}), known = model.get("sealed");
    const offers = Object.values(stored).filter(one => !(one.act in known));
    if (offers.length) send(model, { offers });
  };
  wireForm(root, model, store);
  model.on("change:complaint", complain);
  model.on("change:sealed", keep);
  const unwatch = store.watch("sealed", restore);
  restore();
  return () => { model.off("change:complaint", complain); model.off("change:sealed", keep); unwatch(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
