// Choosing a job log. Traits: html, chosen {name, text} (out; empty for the students).
import { mount, send } from "./mount.js";

function wire(root, model) {
  const find = selector => root.querySelector(selector), file = find("input[type=file]");
  find("[data-do=choose]")?.addEventListener("click", () => file.click());
  find("[data-do=students]")?.addEventListener("click", () => send(model, { chosen: {} }));
  file?.addEventListener("change", async () => {
    const [one] = file.files;
    if (!one) return;
    const text = await one.text();
    file.value = "";
    send(model, { chosen: { name: one.name, text } });
  });
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
