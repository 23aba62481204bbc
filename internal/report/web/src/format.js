// Numbers and words as the page shows them.

export const micros = (ps) => {
  const us = ps / 1e6;
  const digits = Math.abs(us) >= 1000 ? 1 : Math.abs(us) >= 100 ? 2 : 3;
  return us.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

export const time = (ps) => micros(ps) + " µs";

export const count = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;

export const bytes = (n) => {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  for (; n >= 1000 && i + 1 < units.length; i++) n /= 1000;
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(n >= 10 ? 1 : 2)} ${units[i]}`;
};

export const percent = (v) => `${Math.round(100 * v)} %`;

const hazards = {
  raw: "reads what it wrote",
  war: "overwrites what it read",
  waw: "overwrites what it wrote",
  after: "is ordered after it by the program",
  body: "is in its body",
};

// because explains the hazards of a dependency: what the later operation does with respect to the earlier one.
export const because = (hazard) => hazard.split("|").map((h) => hazards[h] || h).join(" and ");

// el makes an element with attributes, listeners (onclick) and children.
export const el = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c !== undefined && c !== null));
  return e;
};

export const clip = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);
