// The timelines of all plans on one axis.
import { onDrag, position, showTip, watchCanvas } from "./canvas.js";
import { clip, percent, time } from "./format.js";
import { announce, choosePlan, data, ops, path, plan, planName, select, selection, spansOf, watch } from "./store.js";
import { colours, font, inkOn, laneColour, onTheme } from "./theme.js";

const canvas = document.getElementById("timeline");
const gutter = 132;
const axis = 26;
const head = 25;
const strip = 7; // of the critical path
const gap = 12;
const chart = 30;
const longest = Math.max(1, ...data.plans.map((p) => p.total));
const view = { from: 0, to: longest };

// --- vertical layout

const totalRows = data.plans.reduce((n, p) => n + Math.max(1, p.rows.length), 0);
const row = Math.max(4, Math.min(20, Math.floor(520 / totalRows)));
const charts = () => (plan().use || []).length > 0 ? [
  { name: "resident warps", unit: "%", value: (u) => u.warps, top: () => 100 },
  { name: "DRAM", unit: "GB/s", value: (u) => u.dram, top: (p) => Math.max(1, ...p.use.map((u) => u.dram)) },
  { name: "host link", unit: "GB/s", value: (u) => u.link, top: (p) => Math.max(0, ...p.use.map((u) => u.link)) },
].filter((c) => c.top(plan()) > 0) : [];

const blocks = () => {
  let y = axis + 4;
  return data.plans.map((p, i) => {
    const rows = Math.max(1, p.rows.length);
    const b = { p, i, y, path: y + head, rows: y + head + strip + 3 };
    y = b.rows + rows * row;
    b.charts = i === selection.plan ? charts() : [];
    b.chart = y + 6;
    if (b.charts.length) y = b.chart + b.charts.length * chart;
    b.bottom = y;
    y += gap;
    return b;
  });
};

const resize = () => {
  const all = blocks();
  canvas.style.height = all[all.length - 1].bottom + gap + "px";
  redraw();
};

// --- horizontal scale

const width = () => canvas.getBoundingClientRect().width;
const span = () => view.to - view.from;
const right = 14;
const xOf = (t) => gutter + ((t - view.from) / span()) * (width() - gutter - right);
const timeOf = (x) => view.from + ((x - gutter) / (width() - gutter - right)) * span();

const setView = (from, to) => {
  const wide = Math.min(longest, Math.max(2000, to - from));
  view.from = Math.min(Math.max(0, from), longest - wide);
  view.to = view.from + wide;
  redraw();
};
const zoom = (factor, at = (view.from + view.to) / 2) => setView(at - (at - view.from) / factor, at + (view.to - at) / factor);
const fit = () => setView(0, longest);

// --- drawing

const redraw = watchCanvas(canvas, (c, w, h) => {
  const began = performance.now();
  drawAxis(c, w, h);
  for (const b of blocks()) {
    drawHead(c, b, w);
    c.save();
    c.beginPath();
    c.rect(gutter, b.y, w - gutter, b.bottom - b.y + 2);
    c.clip();
    drawPath(c, b);
    drawSpans(c, b);
    drawWaits(c, b);
    c.restore();
    b.charts.forEach((k, i) => drawChart(c, b, k, b.chart + i * chart, w));
  }
  canvas.dataset.frame = (performance.now() - began).toFixed(1);
  canvas.dataset.from = view.from;
  canvas.dataset.to = view.to;
});

const drawAxis = (c, w, h) => {
  const colour = colours();
  const rough = span() / Math.max(3, (w - gutter) / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const tick = [1, 2, 5, 10].map((m) => m * power).find((t) => t >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(tick / 1e6) + 1e-9));
  c.font = font(11.5);
  c.textBaseline = "middle";
  c.textAlign = "center";
  for (let t = Math.ceil(view.from / tick) * tick; t <= view.to; t += tick) {
    const x = Math.round(xOf(t)) + 0.5;
    c.strokeStyle = colour.line;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x, axis - 4);
    c.lineTo(x, h);
    c.stroke();
    c.fillStyle = colour.muted;
    c.fillText((t / 1e6).toFixed(digits) + " µs", Math.min(Math.max(x, gutter + 16), w - 26), axis / 2);
  }
};

const drawHead = (c, b, w) => {
  const colour = colours();
  const chosen = b.i === selection.plan;
  c.textBaseline = "middle";
  c.textAlign = "left";
  c.font = font(13, chosen ? 650 : 500);
  c.fillStyle = chosen ? colour.accent : colour.text;
  c.fillText(planName(b.p), 12, b.y + head / 2);
  const name = c.measureText(planName(b.p)).width;
  c.font = font(12.5);
  c.fillStyle = colour.muted;
  const unsure = b.p.uncertainty ? ` ± ${percent(b.p.uncertainty)}` : "";
  c.fillText(time(b.p.total) + unsure, Math.max(gutter, 12 + name + 14), b.y + head / 2);
  b.p.rows.forEach((title, i) => {
    if (row < 11) return;
    c.font = font(11.5);
    c.textAlign = "right";
    c.fillText(clip(title, 20), gutter - 10, b.rows + i * row + row / 2);
  });
  if (b.p.spans.length === 0) {
    c.textAlign = "left";
    c.fillText("no operation ran on the device: all are empty", gutter, b.rows + row / 2);
  }
  c.strokeStyle = colour.line;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(0, b.y - gap / 2 + 0.5);
  c.lineTo(w, b.y - gap / 2 + 0.5);
  if (b.i > 0) c.stroke();
};

const drawPath = (c, b) => {
  const colour = colours();
  for (const s of b.p.path) {
    const x = xOf(s.begin);
    const wide = xOf(s.begin + s.took) - x;
    c.fillStyle = s.span >= 0 && !s.gap ? colour.path : colour.muted;
    c.globalAlpha = s.span >= 0 && !s.gap ? 1 : 0.3;
    c.fillRect(x, b.path, Math.max(0.6, wide - 0.8), strip - 2);
  }
  c.globalAlpha = 1;
};

const drawSpans = (c, b) => {
  const colour = colours();
  const on = path(b.p).spans;
  const ends = new Float64Array(b.p.rows.length).fill(-Infinity); // spans narrower than a pixel are drawn once
  b.p.spans.forEach((s, i) => {
    if (s.end < view.from || s.begin > view.to) return;
    const x = xOf(s.begin);
    const wide = Math.max(1, xOf(s.end) - x - 0.7);
    const chosen = s.op === selection.op;
    if (!chosen && x + wide - ends[s.row] < 0.5) return;
    ends[s.row] = x + wide;
    const y = b.rows + s.row * row + 1;
    const high = row - 2;
    c.fillStyle = laneColour(b.p.lane[s.op]);
    c.globalAlpha = selection.op >= 0 && !chosen ? 0.5 : 0.92;
    c.fillRect(x, y, wide, high);
    c.globalAlpha = 1;
    if (on.has(i) && row > 7) {
      c.fillStyle = colour.path;
      c.fillRect(x, y + high - 2.5, wide, 2.5);
    }
    if (chosen) {
      c.strokeStyle = colour.text;
      c.lineWidth = 2;
      c.strokeRect(x, y, wide, high);
    }
    if (row >= 13 && wide > 34) {
      c.save();
      c.beginPath();
      c.rect(x, y, wide, high);
      c.clip();
      c.font = font(11, 500);
      c.fillStyle = selection.op >= 0 && !chosen ? colour.text : inkOn(laneColour(b.p.lane[s.op]));
      c.textAlign = "left";
      c.textBaseline = "middle";
      const left = Math.max(x, gutter) + 5;
      c.fillText(clip(ops[s.op].title, Math.max(2, Math.floor((x + wide - left) / 6))), left, y + high / 2);
      c.restore();
    }
  });
};

// drawWaits draws the waits of the selected plan: all of a small one, else those of the selected operation.
const drawWaits = (c, b) => {
  if (b.i !== selection.plan) return;
  const colour = colours();
  const all = b.p.wait_pairs.length <= 60;
  for (const [from, to, delay] of b.p.wait_pairs) {
    const [u, v] = [b.p.spans[from], b.p.spans[to]];
    const near = u.op === selection.op || v.op === selection.op;
    if (!all && !near) continue;
    const [x0, y0] = [xOf(u.end), b.rows + u.row * row + row / 2];
    const [x1, y1] = [xOf(v.begin), b.rows + v.row * row + row / 2];
    c.strokeStyle = c.fillStyle = near ? colour.accent : colour.text;
    c.globalAlpha = near ? 1 : 0.55;
    c.lineWidth = near ? 2 : 1.1;
    c.setLineDash(delay ? [3, 3] : []);
    const bend = Math.max(8, (x1 - x0) / 2);
    c.beginPath();
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - 6, y1 - 3.5);
    c.lineTo(x1 - 6, y1 + 3.5);
    c.fill();
    c.globalAlpha = 1;
  }
};

const drawChart = (c, b, k, y, w) => {
  const colour = colours();
  const top = k.top(b.p);
  const high = chart - 8;
  c.font = font(11.5);
  c.fillStyle = colour.muted;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillText(`${k.name}, ${k.unit}`, gutter - 10, y + high / 2);
  c.save();
  c.beginPath();
  c.rect(gutter, y - 2, w - gutter, high + 4);
  c.clip();
  c.fillStyle = colour.accent;
  c.globalAlpha = 0.45;
  b.p.use.forEach((u, i) => {
    const end = i + 1 < b.p.use.length ? b.p.use[i + 1].at : b.p.total;
    if (end < view.from || u.at > view.to) return;
    const value = (k.value(u) / top) * high;
    c.fillRect(xOf(u.at), y + high - value, Math.max(0.5, xOf(end) - xOf(u.at)), value);
  });
  c.globalAlpha = 1;
  c.strokeStyle = colour.line;
  c.beginPath();
  c.moveTo(gutter, y + high + 0.5);
  c.lineTo(w, y + high + 0.5);
  c.stroke();
  const label = String(Math.round(top));
  c.textAlign = "right";
  c.fillStyle = colour.page;
  c.globalAlpha = 0.8;
  c.fillRect(w - right - c.measureText(label).width - 3, y - 2, c.measureText(label).width + 6, 14);
  c.globalAlpha = 1;
  c.fillStyle = colour.muted;
  c.fillText(label, w - right, y + 5);
  c.restore();
};

// --- pointer and keyboard

const hit = (x, y) => {
  const b = blocks().find((one) => y >= one.y && y < one.bottom + gap / 2);
  if (!b) return {};
  if (y < b.rows || x < gutter) return { plan: b.i };
  const r = Math.floor((y - b.rows) / row);
  const t = timeOf(x);
  const slack = (2 * span()) / Math.max(1, width() - gutter);
  let found = -1;
  let best = slack;
  b.p.spans.forEach((s, i) => {
    if (s.row !== r) return;
    const d = t < s.begin ? s.begin - t : t > s.end ? t - s.end : -1;
    if (d < best) {
      best = d;
      found = i;
    }
  });
  return found < 0 ? { plan: b.i } : { plan: b.i, span: found };
};

const choose = (planIndex, spanIndex) => {
  const s = data.plans[planIndex].spans[spanIndex];
  if (planIndex !== selection.plan) choosePlan(planIndex);
  select({ op: s.op }, "timeline");
  announce(`${ops[s.op].title}, ${time(s.end - s.begin)} from ${time(s.begin)}, ${data.plans[planIndex].rows[s.row]}`);
};

const showSpan = (s) => {
  if (s.begin < view.from || s.end > view.to) {
    const wide = Math.max(span(), (s.end - s.begin) * 2);
    const middle = (s.begin + s.end) / 2;
    setView(middle - wide / 2, middle + wide / 2);
  }
};

const step = (along, across) => {
  const p = plan();
  if (!p.spans.length) return;
  const mine = selection.op >= 0 ? spansOf(p, selection.op) : [];
  if (!mine.length) return choose(selection.plan, 0);
  const s = p.spans[mine[0]];
  let best = -1;
  p.spans.forEach((t, i) => {
    if (across) {
      if (t.row !== s.row + across) return;
      if (best < 0 || Math.abs(t.begin - s.begin) < Math.abs(p.spans[best].begin - s.begin)) best = i;
    } else if (t.row === s.row && (t.begin - s.begin) * along > 0) {
      if (best < 0 || Math.abs(t.begin - s.begin) < Math.abs(p.spans[best].begin - s.begin)) best = i;
    }
  });
  if (best < 0) return;
  choose(selection.plan, best);
  showSpan(p.spans[best]);
};

const events = () => {
  onDrag(canvas, (dx) => {
    const d = (-dx / (width() - gutter - right)) * span();
    setView(view.from + d, view.to + d);
  }, (x, y) => {
    canvas.focus({ preventScroll: true });
    const h = hit(x, y);
    if (h.span !== undefined) choose(h.plan, h.span);
    else if (h.plan !== undefined && h.plan !== selection.plan) choosePlan(h.plan);
    else select({}, "timeline");
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return; // the page scrolls
    e.preventDefault();
    if (e.ctrlKey || e.metaKey) return zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.002)), timeOf(position(canvas, e)[0]));
    const d = (e.deltaX / width()) * span();
    setView(view.from + d, view.to + d);
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => zoom(2, timeOf(position(canvas, e)[0])));
  canvas.addEventListener("mousemove", (e) => {
    if (e.buttons) return showTip(e, "");
    const h = hit(...position(canvas, e));
    canvas.style.cursor = h.span !== undefined ? "pointer" : "default";
    if (h.span === undefined) return showTip(e, "");
    const p = data.plans[h.plan];
    const s = p.spans[h.span];
    showTip(e, ops[s.op].title + (s.iteration ? ` [${s.iteration}]` : ""), `${time(s.end - s.begin)}, from ${time(s.begin)} to ${time(s.end)}`,
      s.begin > s.ready ? `waited ${time(s.begin - s.ready)} for the device` : "", s.bound ? `bound by ${s.bound}` : "", `${p.rows[s.row]} of ${planName(p)}`);
  });
  canvas.addEventListener("mouseleave", (e) => showTip(e, ""));
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const side = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    const lane = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (side && e.shiftKey) setView(view.from + (side * span()) / 8, view.to + (side * span()) / 8);
    else if (side) step(side, 0);
    else if (lane) step(0, lane);
    else if (e.key === "+" || e.key === "=") zoom(1.5);
    else if (e.key === "-" || e.key === "_") zoom(1 / 1.5);
    else if (e.key === "0") fit();
    else if (e.key === "Escape") select({}, "timeline");
    else return;
    e.preventDefault();
  });
};

export const startTimeline = () => {
  events();
  onTheme(redraw);
  document.getElementById("time-in").addEventListener("click", () => zoom(1.5));
  document.getElementById("time-out").addEventListener("click", () => zoom(1 / 1.5));
  document.getElementById("time-fit").addEventListener("click", fit);
  canvas.setAttribute("aria-label", `Timelines of ${data.plans.length} plans on one axis of ${time(longest)}`);
  const legend = document.getElementById("timeline-legend");
  legend.textContent = data.source === "simulator"
    ? "Above the lanes of a plan is its critical path: operations in red, and what they wait for in grey. Operations on it are underlined. Arrows are waits between lanes."
    : "Times are from events around each operation, and include the gaps of its stream. Arrows are waits between lanes.";
  watch((from) => {
    if (from !== "timeline" && selection.op >= 0) {
      const mine = spansOf(plan(), selection.op);
      if (mine.length) showSpan(plan().spans[mine[0]]);
    }
    resize();
  });
  resize();
};

// spanAt returns where the page shows a span of a plan, for scripts: [x, y].
export const spanAt = (planIndex, spanIndex) => {
  const b = blocks()[planIndex];
  const s = b.p.spans[spanIndex];
  const r = canvas.getBoundingClientRect();
  return [r.left + (xOf(s.begin) + xOf(s.end)) / 2, r.top + b.rows + s.row * row + row / 2];
};
export const range = () => [view.from, view.to];
