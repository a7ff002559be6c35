// The shape of each piece that is stored or opened. What does not fit is set aside and never shown or sent.

export const TEXT_LIMIT = 4000;

export const isRecord = value => typeof value === "object" && value !== null && !Array.isArray(value);

// A lone half of a surrogate pair cannot be sent to the kernel: it becomes the replacement character.
export function wellFormed(value) {
  if (typeof value === "string") return value.toWellFormed?.() ?? value.replace(/\p{Surrogate}/gu, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [wellFormed(name), wellFormed(one)]));
}

const isName = name => /^[a-z][\w-]*$/i.test(name) && !(name in {});  // no name that every object answers to
const isText = value => typeof value === "string" && [...value].length <= TEXT_LIMIT;  // as Python counts
const recordOf = fits => value =>
  isRecord(value) && Object.entries(value).every(([name, one]) => isName(name) && fits(one, name));
const fields = (one, names) =>
  isRecord(one) && Object.keys(one).length === names.length && names.every(name => isText(one[name]));

export const FITS = {
  act: value => typeof value === "string",
  draft: recordOf(one => fields(one, ["value", "unit", "why"])),
  levers: recordOf(one => typeof one === "boolean" || isText(one)),
  rationale: recordOf(isText),
  sealed: recordOf((one, act) => fields(one, ["act", "value", "why", "at"]) && one.act === act && !isNaN(Date.parse(one.at))),
};
