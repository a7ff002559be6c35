// A widget's markup comes from Python in the trait `html`, or is in the page already (exported file).
// `wire(root)` gives it its behaviour and returns a function that takes it away again.
import { wellFormed } from "./pieces.js";

export function mount({ model, el }, wire) {
  let unwire = () => {};
  const show = () => {
    unwire();
    el.innerHTML = model.get("html");
    unwire = wire(el) ?? (() => {});
  };
  if (el.firstElementChild) unwire = wire(el) ?? unwire;
  else show();
  model.on("change:html", show);
  return () => { model.off("change:html", show); unwire(); };
}

// Set traits and send them in one message, with texts that the kernel can read.
export function send(model, traits) {
  for (const [name, value] of Object.entries(traits)) model.set(name, wellFormed(value));
  model.save_changes();
}
