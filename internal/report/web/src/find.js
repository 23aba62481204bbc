// The search for an operation by its name, number, kernel or line.
import { el } from "./format.js";
import { ops, select } from "./store.js";

const input = document.getElementById("find");
const box = document.getElementById("found");
const most = 50;
let found = [];
let active = -1;

const matches = (text) => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [];
  for (let v = 0; v < ops.length && all.length < most && words.length; v++) {
    const o = ops[v];
    const hay = `${o.title} ${o.number} ${o.kernel || ""} ${o.source || ""}`.toLowerCase();
    if (words.every((w) => hay.includes(w))) all.push(v);
  }
  return all;
};

const show = () => {
  box.hidden = found.length === 0;
  input.setAttribute("aria-expanded", String(found.length > 0));
  box.replaceChildren(...found.map((v, i) => el("li", { role: "option", id: `found-${i}`, "aria-selected": String(i === active), onmousedown: (e) => {
    e.preventDefault();
    choose(i);
  } }, ops[v].title, el("span", {}, ops[v].number))));
  if (active >= 0) {
    input.setAttribute("aria-activedescendant", `found-${active}`);
    box.children[active]?.scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
};

const close = () => {
  found = [];
  active = -1;
  show();
};

const choose = (i) => {
  const op = found[i];
  close();
  if (op !== undefined) select({ op }, "find");
};

export const startFind = () => {
  input.addEventListener("input", () => {
    found = matches(input.value);
    active = found.length ? 0 : -1;
    show();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step && found.length) active = (active + step + found.length) % found.length;
    else if (e.key === "Enter") return choose(active);
    else if (e.key === "Escape") return close();
    else return;
    e.preventDefault();
    show();
  });
};
