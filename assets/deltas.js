// What each card changed by since the setting before in the same act. History lives here, so that a card stays
// a pure function of the outcome. A card says its value, digits, unit and which way is better in data attributes.

const SECONDS = { s: 1, min: 60, h: 3600 };

export function changes() {
  const before = new Map();
  return root => {
    for (const slot of root.querySelectorAll(".fl-delta")) {
      const { act, card, places, unit, shown, better } = slot.dataset, value = Number(slot.dataset.value);
      const key = `${act} ${card}`, was = before.get(key), size = value * (SECONDS[unit] ?? 1);
      before.set(key, { value, places, unit, shown, size });
      if (!was || shown === was.shown) continue;
      const comparable = unit === was.unit && places && was.places;
      slot.textContent = comparable ? difference(value - was.value, Math.min(places, was.places), unit) : `was ${was.shown}`;
      if (size !== was.size) slot.dataset.good = String(size > was.size === (better === "up"));
    }
  };
}

function difference(by, places, unit) {
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  return `${by > 0 ? "▲" : "▼"} ${Math.abs(by).toLocaleString("en", digits)} ${unit === "%" ? "points" : unit}`;
}
