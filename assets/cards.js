// The ledger cards: shows the markup of the outcome and fills in what changed. Traits: html.
import { changes } from "./deltas.js";
import { mount } from "./mount.js";

export function render(context) {
  const fill = changes();
  return mount(context, root => fill(root));
}
export default { render };
