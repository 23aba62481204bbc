// The table of plans.
import { watchCanvas } from "./canvas.js";
import { bytes, count, el, micros, percent, time } from "./format.js";
import { choosePlan, data, planName, selection, watch } from "./store.js";
import { colours, onTheme } from "./theme.js";

// ratio formats a ratio of times, and marks one that differs from 1 by less than the times are uncertain.
export const ratio = (a, b) => {
  const v = a.total / b.total;
  const unsure = a !== b && Math.abs(Math.log(v)) < Math.max(a.uncertainty, b.uncertainty);
  return { text: (unsure ? "≈ " : "") + v.toFixed(2) + " ×", unsure };
};

const serial = () => data.plans.find((p) => p.strategy === "serial") || data.plans[0];
export const best = () => data.plans.reduce((a, b) => (b.total < a.total ? b : a));

// bar draws the time, and its uncertainty as a whisker.
const bar = (p, most) => {
  const canvas = el("canvas", { "aria-hidden": "true" });
  onTheme(watchCanvas(canvas, (c, w, h) => {
    const scale = (w - 2) / most;
    c.fillStyle = colours().accent;
    c.globalAlpha = 0.75;
    c.fillRect(0, h / 2 - 4, p.total * scale, 8);
    c.globalAlpha = 1;
    if (!p.uncertainty) return;
    c.strokeStyle = colours().text;
    c.lineWidth = 1.4;
    const [a, b] = [p.total * (1 - p.uncertainty) * scale, p.total * (1 + p.uncertainty) * scale];
    c.beginPath();
    for (const x of [a, b]) {
      c.moveTo(x, h / 2 - 4);
      c.lineTo(x, h / 2 + 4);
    }
    c.moveTo(a, h / 2);
    c.lineTo(b, h / 2);
    c.stroke();
  }));
  return canvas;
};

const row = (p, i, most) => {
  const r = ratio(serial(), p);
  const input = el("input", { type: "radio", name: "plan", value: i, "aria-label": `Show plan ${planName(p)}`, onchange: () => choosePlan(i) });
  input.checked = i === selection.plan;
  const waited = p.causes.length ? p.causes.reduce((a, b) => (b.ps > a.ps ? b : a)) : null;
  return el("tr", { onclick: () => choosePlan(i) },
    el("td", {}, el("label", {}, input, planName(p))),
    el("td", {}, el("div", { class: "time" }, bar(p, most), el("span", { class: p === best() ? "best" : "" }, micros(p.total)))),
    el("td", {}, p.uncertainty ? "± " + percent(p.uncertainty) : "–"),
    el("td", { class: r.unsure ? "unsure" : "" }, r.text),
    el("td", {}, p.bound && p.backend === "graph" ? percent(p.bound / p.total) : "–"),
    el("td", {}, String(p.lanes)),
    el("td", {}, String(p.waits)),
    el("td", {}, waited ? `${waited.cause} ${percent(waited.ps / p.total)}` : "–"),
    el("td", {}, bytes(p.memory.separate)),
    el("td", {}, bytes(p.memory.shared)),
  );
};

export const startTable = () => {
  const table = document.getElementById("plans");
  const most = Math.max(...data.plans.map((p) => p.total * (1 + p.uncertainty)));
  const names = ["plan", "time, µs", "uncertainty", "over " + serial().strategy, "of bound", "lanes", "waits", "largest cause", "memory", "with reuse"];
  const body = el("tbody", {}, data.plans.map((p, i) => row(p, i, most)));
  table.append(el("caption", { class: "hidden" }, "Plans of the program: choose one to show"), el("thead", {}, el("tr", {}, names.map((n) => el("th", { scope: "col" }, n)))), body);
  const b = best();
  const r = ratio(serial(), b);
  const few = data.plans.length === 1 ? `${planName(b)} takes ${time(b.total)}.` : `${planName(b)} is the quickest: ${time(b.total)}` + (b === serial() ? "." : `, ${r.text} as fast as ${serial().strategy}.`);
  document.getElementById("verdict").textContent = few;
  const notes = [];
  if (data.source === "simulator") notes.push("Times are virtual: a simulator computes them, and the uncertainty is that of its model.");
  if (data.plans.some((p) => p.uncertainty)) notes.push("≈ marks ratios within the uncertainty.");
  if (data.plans.some((p) => p.bound && p.backend === "graph")) notes.push("The bound is a time that no schedule of one graph is predicted to undercut.");
  if (data.omitted_edges) notes.push(`${count(data.omitted_edges, "dependency").replace("dependencys", "dependencies")} that others imply are left out of this report.`);
  document.getElementById("plans-note").textContent = notes.join(" ");
  const mark = () => [...body.rows].forEach((tr, i) => {
    tr.classList.toggle("selected", i === selection.plan);
    tr.querySelector("input").checked = i === selection.plan;
  });
  watch(mark);
  mark();
};
