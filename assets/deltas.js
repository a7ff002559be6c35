// What each card changed by since the setting before. History lives here, so that a card stays a pure
// function of the outcome. A card says its value, digits, unit and which way is better in data attributes.

export function changes() {
  const before = new Map();
  return root => {
    for (const slot of root.querySelectorAll(".fl-delta")) {
      const { card, value, places, unit, shown, better } = slot.dataset;
      const was = before.get(card), now = Number(value);
      before.set(card, { value: now, places, unit, shown });
      if (!was || shown === was.shown) continue;
      const difference = now - was.value;
      slot.textContent = unit === was.unit && places && was.places
        ? `${difference > 0 ? "▲" : "▼"} ${amount(Math.abs(difference), Number(places))} ${unit === "%" ? "points" : unit}`
        : `was ${was.shown}`;
      if (difference !== 0) slot.dataset.good = String(difference > 0 === (better === "up"));
    }
  };
}

const amount = (value, places) => value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
