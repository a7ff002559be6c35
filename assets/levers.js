// All levers of the lab in one panel. Traits: html, values {lever: value}, unlocked, home.
// The markup says the start values; what is stored in the browser, else the model, says the present ones.
import { mount, send } from "./mount.js";
import { Store } from "./store.js";

// The units that may be typed, in lower case, by the SI unit of a lever.
const UNITS = {
  s: { s: 1, sec: 1, min: 60, m: 60, h: 3600, d: 86400 },
  "byte/s": { "b/s": 1, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "tb/s": 1e12 },
};

// Read a quantity such as "18 min", "0,3 h" or "61 GB/s" in the SI unit; NaN when it is none.
export function quantity(text, unit) {
  const found = text.trim().replace(",", ".").match(/^(\d+\.?\d*|\.\d+)\s*([a-z/]+)$/i);
  const size = found && UNITS[unit]?.[found[2].toLowerCase()];
  return size ? Number(found[1]) * size : NaN;
}

// The index of the step nearest to `value` on a logarithmic scale.
export function nearest(steps, value) {
  const away = step => Math.abs(Math.log(step / value));
  return steps.reduce((best, step, i) => (away(step) < away(steps[best]) ? i : best), 0);
}

function choice(box, put) {
  const inputs = [...box.querySelectorAll("input")], hints = [...box.querySelectorAll("[data-for]")];
  box.addEventListener("change", event => put(event.target.value));
  return {
    fits: value => inputs.some(input => input.value === value),
    show: value => {
      for (const input of inputs) input.checked = input.value === value;
      for (const hint of hints) hint.hidden = hint.dataset.for !== value;
    },
  };
}

function toggle(box, put) {
  const input = box.querySelector("input");
  input.addEventListener("change", () => put(input.checked));
  return { fits: value => typeof value === "boolean", show: value => { input.checked = value; } };
}

function range(box, put) {
  const steps = JSON.parse(box.dataset.steps), labels = JSON.parse(box.dataset.labels), { unit } = box.dataset;
  const slider = box.querySelector("input[type=range]"), typed = box.querySelector(".fl-typed");
  const error = box.querySelector(".fl-lever-error");
  function show(label) {
    const i = labels.indexOf(label);
    slider.value = i;
    slider.setAttribute("aria-valuetext", label);
    slider.parentElement.style.setProperty("--fl-at", i / (labels.length - 1));
    typed.value = label;
    typed.removeAttribute("aria-invalid");
    error.textContent = "";
  }
  const choose = i => { show(labels[i]); put(labels[i]); };
  slider.addEventListener("input", () => choose(Number(slider.value)));
  typed.addEventListener("change", () => {
    const wanted = quantity(typed.value, unit);
    if (wanted > 0) return choose(nearest(steps, wanted));
    typed.setAttribute("aria-invalid", "true");
    error.textContent = `Type a value from ${labels[0]} to ${labels.at(-1)} with its unit, not “${typed.value}”.`;
  });
  return { fits: value => labels.includes(value), show };
}

const KINDS = { choice, switch: toggle, range };

function wire(root, model) {
  const store = new Store(model.get("home")), panel = root.querySelector(".fl-levers"), levers = {};
  const put = (name, value) => {
    send(model, { values: { ...model.get("values"), [name]: value } });
    store.write("levers", { ...store.read("levers", {}), [name]: value });  // those of other acts stay
  };
  for (const box of panel.querySelectorAll("[data-lever]")) {
    levers[box.dataset.name] = KINDS[box.dataset.lever](box, value => put(box.dataset.name, value));
  }
  const show = () => {
    panel.inert = !model.get("unlocked");
    for (const [name, value] of Object.entries(model.get("values"))) levers[name]?.show(value);
  };
  // Stored values that this plan does not know are left out; the rest win over the start values.
  const restore = () => {
    const values = { ...model.get("values") };
    for (const [name, value] of Object.entries(store.read("levers", {}))) {
      if (levers[name]?.fits(value)) values[name] = value;
    }
    if (JSON.stringify(values) !== JSON.stringify(model.get("values"))) send(model, { values });
    show();
  };
  model.on("change:values", show);
  model.on("change:unlocked", show);
  const unwatch = store.watch("levers", restore);
  restore();
  return () => { model.off("change:values", show); model.off("change:unlocked", show); unwatch(); };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
