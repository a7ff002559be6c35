// What a student does stays in this browser: one JSON text per piece, under
// fleetlab:<lab>:<plan digest>:<student>:<piece>. A text that cannot be used is set aside, never deleted.
import { FITS, wellFormed } from "./pieces.js";

const notices = [];
const NOTICE = "fleetlab:notice", CHANGE = "fleetlab:change";

// Tell the student one sentence; the newest is kept for a panel that opens later.
export function notify(sentence) {
  if (notices.includes(sentence)) return;
  notices.push(sentence);
  window.dispatchEvent(new CustomEvent(NOTICE, { detail: sentence }));
}

// Call `show` with every notice so far and with each new one; returns the function that stops it.
export function onNotice(show) {
  const hear = event => show(event.detail);
  notices.forEach(show);
  window.addEventListener(NOTICE, hear);
  return () => window.removeEventListener(NOTICE, hear);
}

// Ask every widget to keep what was typed and is not kept yet.
export const KEEP = "fleetlab:keep";
export const keepNow = () => window.dispatchEvent(new Event(KEEP));

export class Store {
  constructor(home) { this.home = home; }

  key(piece) { return `${this.home}:${piece}`; }

  // The stored value, or `fallback`; `fits` says whether a value has the shape that the caller can use.
  read(piece, fallback, fits = FITS[piece] ?? (() => true)) {
    let text = null;
    try { text = localStorage.getItem(this.key(piece)); } catch { this.#blocked(); }
    if (text === null) return fallback;
    try {
      const value = wellFormed(JSON.parse(text));
      if (fits(value)) return value;
    } catch { /* told below */ }
    this.#setAside(piece, text);
    return fallback;
  }

  write(piece, value) {
    try {
      localStorage.setItem(this.key(piece), JSON.stringify(value));
    } catch {
      this.#blocked();
      return false;
    }
    window.dispatchEvent(new CustomEvent(CHANGE, { detail: this.key(piece) }));
    return true;
  }

  // Call `changed` when this piece is written by another widget of the page or by another tab.
  watch(piece, changed) {
    const here = event => { if (event.detail === this.key(piece)) changed(); };
    const elsewhere = event => { if (event.key === this.key(piece) && event.newValue !== null) changed(); };
    window.addEventListener(CHANGE, here);
    window.addEventListener("storage", elsewhere);
    return () => { window.removeEventListener(CHANGE, here); window.removeEventListener("storage", elsewhere); };
  }

  // Remove the pieces of this student and plan; what was set aside stays.
  clear(pieces) {
    try { pieces.forEach(piece => localStorage.removeItem(this.key(piece))); } catch { this.#blocked(); }
  }

  #setAside(piece, text) {
    const kept = `${this.key(piece)}:set-aside:${new Date().toISOString()}`;
    try {
      localStorage.setItem(kept, text);
      localStorage.removeItem(this.key(piece));
      notify(`The stored ${piece} could not be read; the old text is kept in this browser as “${kept}”.`);
    } catch { this.#blocked(); }
  }

  #blocked() {
    notify("This browser does not keep what you type. Use “Save my work” before you close the page.");
  }
}
