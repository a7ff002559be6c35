// Runs check.py of this folder on the Python of the browser, under Node, and prints what it returns.
//
//   node tests/pyodide/run.mjs PREPARED_FOLDER
//
// The checkout is seen as /fleetlab and PREPARED_FOLDER/site, the packages, as /site. See README.md.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const prepared = process.argv[2];
if (!prepared) {
  console.error("Give the prepared folder; tests/pyodide/README.md says how to prepare one.");
  process.exit(2);
}

const entry = resolve(prepared, "node_modules", "pyodide", "pyodide.mjs");
const { loadPyodide } = await import(pathToFileURL(entry));
const pyodide = await loadPyodide({ env: { HOME: "/tmp", PYTHONDONTWRITEBYTECODE: "1" } });
const folders = { "/fleetlab": resolve(here, "..", ".."), "/site": resolve(prepared, "site") };
for (const [inside, outside] of Object.entries(folders)) {
  pyodide.FS.mkdirTree(inside);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: outside }, inside);
}
console.log(pyodide.runPython(readFileSync(resolve(here, "check.py"), "utf8")));
