// The view of the graph: drawing, pointer and keyboard.
import { onDrag, position, rounded, showTip, watchCanvas } from "./canvas.js";
import { because, count, time } from "./format.js";
import { allOpen, groupKey, groupOf, height, isGroup, keyOf, labelOf, open, titleOf, visible, widthOf } from "./model.js";
import { place } from "./place.js";
import { announce, data, ops, path, plan, select, selection, spansOf, watch } from "./store.js";
import { colours, font, laneColour, onTheme } from "./theme.js";

const canvas = document.getElementById("graph");
const busy = document.getElementById("graph-busy");
const implied = document.getElementById("implied");
const view = { k: 1, x: 0, y: 0, fitted: true };
let graph = { keys: [], edges: [] };
let drawing = { at: new Map(), routes: {}, width: 1, height: 1 };
let near = { in: new Map(), out: new Map() }; // edges by node
let current = -1; // the node with the keyboard
let hovered = null;

const dashes = { raw: [], war: [6, 4], waw: [2, 3], after: [9, 3, 2, 3], body: [1, 4] };

// --- layout

// rebuild places the visible graph anew. Node keep, if any, stays at place anchor of the canvas.
const rebuild = (keep, anchor) => {
  graph = visible(implied.checked);
  near = { in: new Map(), out: new Map() };
  for (const e of graph.edges) {
    if (!near.out.has(e.from)) near.out.set(e.from, []);
    if (!near.in.has(e.to)) near.in.set(e.to, []);
    near.out.get(e.from).push(e);
    near.in.get(e.to).push(e);
  }
  const placed = place(graph);
  const use = (d) => {
    busy.hidden = true;
    canvas.dataset.state = "ready";
    drawing = d;
    for (const e of graph.edges) e.points = curve(e);
    describe();
    if (anchor && drawing.at.has(keep)) moveTo(keep, anchor);
    else begin();
  };
  if (placed instanceof Promise) {
    busy.hidden = false;
    canvas.dataset.state = "placing";
    graph = { keys: [], edges: [], next: graph }; // nothing is drawn from the old places
    const next = graph.next;
    placed.then((d) => {
      graph = next;
      use(d);
    });
  } else use(placed);
};

// curve returns points along an edge: through the bends, with vertical ends.
const curve = (e) => {
  const a = drawing.at.get(e.from);
  const b = drawing.at.get(e.to);
  const bends = (drawing.routes[e.all[0]] || []).slice(1, -1);
  const ends = [[a[0], a[1] + height / 2], ...bends, [b[0], b[1] - height / 2]];
  const points = [ends[0]];
  for (let i = 1; i < ends.length; i++) {
    const [p, q] = [ends[i - 1], ends[i]];
    const steps = Math.abs(p[0] - q[0]) < 1 ? 1 : 8;
    const bend = (q[1] - p[1]) / 2;
    for (let s = 1; s <= steps; s++) {
      const t = s / steps;
      const u = 1 - t;
      points.push([
        p[0] * (u * u * u + 3 * u * u * t) + q[0] * (3 * u * t * t + t * t * t),
        u * u * u * p[1] + 3 * u * u * t * (p[1] + bend) + 3 * u * t * t * (q[1] - bend) + t * t * t * q[1],
      ]);
    }
  }
  return points;
};

// --- view

const size = () => canvas.getBoundingClientRect();
const screenOf = (key) => {
  const p = drawing.at.get(key);
  return p && [p[0] * view.k + view.x, p[1] * view.k + view.y];
};

// fit shows the whole drawing.
const fit = () => {
  const { width, height: h } = size();
  if (!width) return;
  const k = Math.min(1.25, (width - 48) / drawing.width, (h - 48) / drawing.height);
  setScale(Math.max(k, 0.01));
};

// readable is the scale from which names can be read.
const readable = 0.7;

// begin shows the whole drawing if its names can be read then, and else its top.
const begin = () => {
  const { width, height: h } = size();
  if (!width) return;
  const whole = Math.min(1.25, (width - 48) / drawing.width, (h - 48) / drawing.height);
  setScale(whole >= readable ? whole : Math.min(0.9, Math.max(readable, (width - 48) / drawing.width)));
};

const setScale = (k) => {
  const { width, height: h } = size();
  view.k = k;
  view.x = (width - drawing.width * k) / 2;
  view.y = drawing.height * k < h - 48 ? (h - drawing.height * k) / 2 : 24;
  view.fitted = true;
  redraw();
};

const zoom = (factor, at) => {
  const { width, height: h } = size();
  const [x, y] = at || [width / 2, h / 2];
  const k = Math.min(4, Math.max(0.01, view.k * factor));
  view.x = x - ((x - view.x) * k) / view.k;
  view.y = y - ((y - view.y) * k) / view.k;
  view.k = k;
  view.fitted = false;
  redraw();
};

const move = (dx, dy) => {
  view.x += dx;
  view.y += dy;
  view.fitted = false;
  redraw();
};

const moveTo = (key, [x, y]) => {
  const p = drawing.at.get(key);
  view.x = x - p[0] * view.k;
  view.y = y - p[1] * view.k;
  redraw();
};

// reveal moves a node into the view, and makes its name readable.
const reveal = (key) => {
  const { width, height: h } = size();
  if (!drawing.at.has(key) || !width) return;
  if (view.k < 0.55) {
    view.k = 0.8;
    moveTo(key, [width / 2, h / 2]);
  }
  const [x, y] = screenOf(key);
  if (x < 90 || x > width - 90 || y < 40 || y > h - 40) moveTo(key, [width / 2, h / 2]);
  redraw();
};

// --- drawing

const lanesOf = (key) => {
  const p = plan();
  if (!isGroup(key)) return [[p.lane[key], 1]];
  const list = data.groups[groupOf(key)].ops;
  const sums = new Map();
  for (const v of list) sums.set(p.lane[v], (sums.get(p.lane[v]) || 0) + 1 / list.length);
  return [...sums].sort((a, b) => a[0] - b[0]);
};

const redraw = watchCanvas(canvas, (c, width, h) => {
  if (view.fitted && (view.w !== width || view.h !== h)) {
    Object.assign(view, { w: width, h });
    begin();
  }
  const began = performance.now();
  c.save();
  c.translate(view.x, view.y);
  c.scale(view.k, view.k);
  const box = { left: -view.x / view.k, top: -view.y / view.k, right: (width - view.x) / view.k, bottom: (h - view.y) / view.k };
  drawGroups(c, box);
  drawEdges(c, box);
  drawNodes(c, box);
  c.restore();
  drawMap(c, width, h);
  canvas.dataset.frame = (performance.now() - began).toFixed(1);
});

// mapOf returns the place of the small map of the drawing, null while all of the drawing is in view.
const mapOf = (width, h) => {
  const fits = drawing.width * view.k <= width - 20 && drawing.height * view.k <= h - 20;
  if (fits || drawing.at.size === 0) return null;
  const k = Math.min(110 / drawing.width, (h - 24) / drawing.height);
  const w = Math.max(16, drawing.width * k);
  return { k, x: width - w - 12, y: 12, w, h: Math.max(16, drawing.height * k) };
};

const drawMap = (c, width, h) => {
  const m = mapOf(width, h);
  if (!m) return;
  const colour = colours();
  const on = path().ops;
  c.fillStyle = colour.card;
  c.strokeStyle = colour.line;
  c.lineWidth = 1;
  rounded(c, m.x - 5, m.y - 5, m.w + 10, m.h + 10, 6);
  c.fill();
  c.stroke();
  for (const key of graph.keys) {
    const [x, y] = drawing.at.get(key);
    c.fillStyle = !isGroup(key) && on.has(key) ? colour.path : laneColour(lanesOf(key)[0][0]);
    c.fillRect(m.x + x * m.k - 1, m.y + y * m.k - 0.5, Math.max(2, widthOf(key) * m.k * 0.8), Math.max(1, height * m.k * 0.8));
  }
  c.strokeStyle = colour.accent;
  c.lineWidth = 1.5;
  const left = Math.max(m.x - 3, m.x - (view.x / view.k) * m.k);
  const top = Math.max(m.y - 3, m.y - (view.y / view.k) * m.k);
  const right = Math.min(m.x + m.w + 3, m.x + ((width - view.x) / view.k) * m.k);
  const bottom = Math.min(m.y + m.h + 3, m.y + ((h - view.y) / view.k) * m.k);
  if (right > left && bottom > top) c.strokeRect(left, top, right - left, Math.max(4, bottom - top));
};

// goTo centres the view on a place of the map, and returns false outside of the map.
const goTo = (x, y) => {
  const { width, height: h } = size();
  const m = mapOf(width, h);
  if (!m || x < m.x - 5 || x > m.x + m.w + 5 || y < m.y - 5 || y > m.y + m.h + 5) return false;
  view.x = width / 2 - ((x - m.x) / m.k) * view.k;
  view.y = h / 2 - ((y - m.y) / m.k) * view.k;
  view.fitted = false;
  redraw();
  return true;
};

// membersBox returns the rectangle around the operations of an open group.
const membersBox = (g) => {
  let [l, t, r, b] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const v of data.groups[g].ops) {
    const p = drawing.at.get(v);
    if (!p) continue;
    const w = widthOf(v) / 2;
    l = Math.min(l, p[0] - w);
    r = Math.max(r, p[0] + w);
    t = Math.min(t, p[1] - height / 2);
    b = Math.max(b, p[1] + height / 2);
  }
  return { l: l - 14, t: t - 26, r: r + 14, b: b + 12 };
};

const shownGroups = () => (allOpen() && data.closed ? [] : [...open]); // boxes of runs of operations would cover each other

const drawGroups = (c) => {
  const colour = colours();
  for (const g of shownGroups()) {
    const b = membersBox(g);
    if (!(b.r > b.l)) continue;
    c.fillStyle = colour.card;
    c.strokeStyle = colour.line;
    c.lineWidth = 1 / view.k;
    rounded(c, b.l, b.t, b.r - b.l, b.b - b.t, 10);
    c.fill();
    c.stroke();
    if (view.k > 0.3) {
      c.fillStyle = colour.muted;
      c.font = font(12, 600);
      c.textBaseline = "middle";
      c.textAlign = "left";
      c.fillText("▾ " + data.groups[g].title, b.l + 10, b.t + 13);
    }
  }
};

const isSelected = (e) => selection.edge >= 0 && e.all.includes(selection.edge);

const drawEdges = (c, box) => {
  const colour = colours();
  const on = path().edges;
  const focus = selection.op >= 0 ? keyOf(selection.op) : selection.group >= 0 ? groupKey(selection.group) : -1;
  const late = [];
  const draw = (e, stroke, width, alpha, head) => {
    c.strokeStyle = c.fillStyle = stroke;
    c.globalAlpha = alpha;
    c.lineWidth = width;
    c.setLineDash(e.kept ? dashes[e.hazard] || [] : [1, 3]);
    c.beginPath();
    e.points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.stroke();
    c.setLineDash([]);
    if (head) arrow(c, e.points, 4 + width * 1.5);
    c.globalAlpha = 1;
  };
  const thin = Math.max(1.2, 0.9 / view.k);
  const many = graph.edges.length > 1500;
  for (const e of graph.edges) {
    const [a, b] = [e.points[0], e.points[e.points.length - 1]];
    if (Math.max(a[0], b[0]) < box.left - 200 || Math.min(a[0], b[0]) > box.right + 200 || b[1] < box.top || a[1] > box.bottom) continue;
    const critical = e.all.some((i) => on.has(i));
    if (critical || isSelected(e) || e === hovered || e.from === focus || e.to === focus) late.push([e, critical]);
    else draw(e, colour[e.hazard] || colour.raw, thin, e.kept ? (many ? 0.45 : 0.8) : 0.35, view.k > 0.25);
  }
  for (const [e, critical] of late) {
    const strong = isSelected(e) || e === hovered;
    const stroke = strong ? colour.accent : critical ? colour.path : colour[e.hazard] || colour.raw;
    draw(e, stroke, thin * (strong ? 2.2 : critical ? 1.9 : 1.6), 1, view.k > 0.15);
  }
};

const arrow = (c, points, length) => {
  const [x, y] = points[points.length - 1];
  const [px, py] = points[points.length - 2];
  const angle = Math.atan2(y - py, x - px);
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x - length * Math.cos(angle - 0.42), y - length * Math.sin(angle - 0.42));
  c.lineTo(x - length * Math.cos(angle + 0.42), y - length * Math.sin(angle + 0.42));
  c.fill();
};

const drawNodes = (c, box) => {
  const on = path().ops;
  for (const key of graph.keys) {
    const p = drawing.at.get(key);
    const w = widthOf(key);
    if (p[0] + w / 2 < box.left || p[0] - w / 2 > box.right || p[1] + height < box.top || p[1] - height > box.bottom) continue;
    const critical = isGroup(key) ? data.groups[groupOf(key)].ops.some((v) => on.has(v)) : on.has(key);
    drawNode(c, key, p[0] - w / 2, p[1] - height / 2, w, critical);
  }
};

const drawNode = (c, key, x, y, w, critical) => {
  const colour = colours();
  const lanes = lanesOf(key);
  if (view.k < 0.3) {
    c.fillStyle = laneColour(lanes.reduce((a, b) => (b[1] > a[1] ? b : a))[0]);
    c.fillRect(x, y, w, height);
    if (critical || key === chosen()) {
      c.strokeStyle = key === chosen() ? colour.accent : colour.path;
      c.lineWidth = Math.max(2, 1.5 / view.k);
      c.strokeRect(x, y, w, height);
    }
    return;
  }
  if (isGroup(key)) {
    c.fillStyle = colour.card;
    c.strokeStyle = colour.line;
    c.lineWidth = 1.2;
    rounded(c, x + 4, y + 4, w, height, 8);
    c.fill();
    c.stroke();
  }
  c.fillStyle = colour.card;
  rounded(c, x, y, w, height, 8);
  c.fill();
  c.save();
  c.clip();
  let top = y;
  for (const [lane, share] of lanes) {
    c.fillStyle = laneColour(lane);
    c.globalAlpha = 0.16;
    c.fillRect(x, top, w, height * share);
    c.globalAlpha = 1;
    c.fillRect(x, top, 6, height * share);
    top += height * share;
  }
  c.restore();
  c.strokeStyle = key === chosen() ? colour.accent : critical ? colour.path : colour.line;
  c.lineWidth = key === chosen() ? 3 : critical ? 2 : 1.2;
  rounded(c, x, y, w, height, 8);
  c.stroke();
  c.fillStyle = colour.text;
  c.font = font(12.5);
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillText(labelOf(key), x + 16, y + height / 2 + 0.5, w - 24);
  if (isGroup(key)) {
    c.fillStyle = colour.muted;
    c.font = font(12);
    c.textAlign = "right";
    c.fillText("▸ " + data.groups[groupOf(key)].ops.length, x + w - 9, y + height / 2 + 0.5);
  }
};

// --- selection

const chosen = () => (selection.op >= 0 ? keyOf(selection.op) : selection.group >= 0 ? groupKey(selection.group) : -1);

const choose = (key) => {
  current = key;
  if (isGroup(key)) select({ group: groupOf(key) }, "graph");
  else select({ op: key }, "graph");
  announce(labelForScreenReader(key));
};

const labelForScreenReader = (key) => {
  if (isGroup(key)) return `Group ${titleOf(key)}, closed, ${count(data.groups[groupOf(key)].ops.length, "operation")}`;
  const p = plan();
  const spans = spansOf(p, key);
  const took = spans.length ? `, ${time(p.spans[spans[0]].End ?? p.spans[spans[0]].end - p.spans[spans[0]].begin)}` : "";
  return `${titleOf(key)}, ${ops[key].number}, lane ${p.lane[key]}${took}${path().ops.has(key) ? ", on the critical path" : ""}`;
};

const toggle = (g) => {
  const first = data.groups[g].ops[0];
  const anchor = drawing.at.has(keyOf(first)) ? screenOf(keyOf(first)) : null;
  if (open.has(g)) open.delete(g);
  else open.add(g);
  current = keyOf(first);
  rebuild(current, anchor);
  if (selection.group === g || (selection.op >= 0 && ops[selection.op].group === g)) choose(current);
  announce(`Group ${data.groups[g].title} is ${open.has(g) ? "open" : "closed"}`);
};

// show opens the group of an operation if need be, and moves it into the view.
const show = (op) => {
  const key = keyOf(op);
  if (isGroup(key) && selection.op === op) {
    current = key;
  }
  current = key;
  reveal(key);
};

const hit = (x, y) => {
  const gx = (x - view.x) / view.k;
  const gy = (y - view.y) / view.k;
  for (let i = graph.keys.length - 1; i >= 0; i--) {
    const key = graph.keys[i];
    const p = drawing.at.get(key);
    if (Math.abs(gx - p[0]) <= widthOf(key) / 2 && Math.abs(gy - p[1]) <= height / 2) return { key };
  }
  for (const g of shownGroups()) {
    const b = membersBox(g);
    if (gx > b.l && gx < b.r && gy > b.t && gy < b.t + 24) return { head: g };
  }
  let best = 7 / view.k;
  let found = {};
  for (const e of graph.edges) {
    const pts = e.points;
    if (gy < pts[0][1] - best || gy > pts[pts.length - 1][1] + best) continue;
    for (let i = 1; i < pts.length; i++) {
      const d = distance(gx, gy, pts[i - 1], pts[i]);
      if (d < best) {
        best = d;
        found = { edge: e };
      }
    }
  }
  return found;
};

const distance = (x, y, [ax, ay], [bx, by]) => {
  const l = (bx - ax) ** 2 + (by - ay) ** 2;
  const t = l === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / l));
  return Math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay));
};

const describe = () => {
  const kept = data.edges.filter((e) => e.kept).length;
  document.getElementById("graph-summary").textContent =
    `${count(ops.length, "operation")}, ${kept.toLocaleString("en-US")} dependencies` + (graph.keys.length < ops.length ? `, ${count(graph.keys.length, "node")} shown` : "");
  canvas.setAttribute("aria-label", `Graph of ${data.program}: ${count(ops.length, "operation")} in ${count(graph.keys.length, "node")}, coloured by the lanes of ${plan().strategy}`);
  document.getElementById("close-all").disabled = open.size === 0;
  document.getElementById("open-all").disabled = allOpen();
};

// --- events

const pointer = () => {
  onDrag(canvas, move, (x, y) => {
    canvas.focus({ preventScroll: true });
    if (goTo(x, y)) return;
    const h = hit(x, y);
    if (h.head !== undefined) toggle(h.head);
    else if (h.edge) select({ edge: h.edge.all[0] }, "graph");
    else if (h.key !== undefined) choose(h.key);
    else select({}, "graph");
  });
  canvas.addEventListener("dblclick", (e) => {
    const h = hit(...position(canvas, e));
    if (h.key !== undefined && isGroup(h.key)) toggle(groupOf(h.key));
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return; // the page scrolls
    e.preventDefault();
    zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), position(canvas, e));
  }, { passive: false });
  canvas.addEventListener("mousemove", (e) => {
    if (e.buttons) return showTip(e);
    const h = hit(...position(canvas, e));
    canvas.style.cursor = h.key !== undefined || h.edge || h.head !== undefined ? "pointer" : "grab";
    if (hovered !== (h.edge || null)) {
      hovered = h.edge || null;
      redraw();
    }
    if (h.edge) tipOfEdge(e, h.edge);
    else if (h.key !== undefined) tipOfNode(e, h.key);
    else showTip(e, "");
  });
  canvas.addEventListener("mouseleave", (e) => {
    hovered = null;
    showTip(e, "");
    redraw();
  });
};

const tipOfEdge = (e, edge) => {
  const d = data.edges[edge.all[0]];
  const more = edge.all.length > 1 ? `and ${edge.all.length - 1} more between these` : "";
  showTip(e, `${ops[d.from].title} → ${ops[d.to].title}`, `${d.hazard} ${d.range || ""}: it ${because(d.hazard)}`, edge.kept ? "" : "other dependencies imply it", more);
};

const tipOfNode = (e, key) => {
  if (isGroup(key)) return showTip(e, titleOf(key), count(data.groups[groupOf(key)].ops.length, "operation"), "Double-click to open");
  const p = plan();
  const spans = spansOf(p, key);
  const s = p.spans[spans[0]];
  showTip(e, titleOf(key), `${ops[key].number}  ${ops[key].source || ""}`, s ? `lane ${p.lane[key]}: ${time(s.end - s.begin)}, from ${time(s.begin)}` : `lane ${p.lane[key]}`);
};

// step moves the keyboard to a neighbour: along an edge, or within the layer.
const step = (dx, dy) => {
  if (!drawing.at.has(current)) current = graph.keys[0];
  else if (dy) {
    const edges = (dy > 0 ? near.out : near.in).get(current) || [];
    const [x] = drawing.at.get(current);
    const ends = edges.filter((e) => e.kept).map((e) => (dy > 0 ? e.to : e.from));
    if (ends.length) current = ends.reduce((a, b) => (Math.abs(drawing.at.get(b)[0] - x) < Math.abs(drawing.at.get(a)[0] - x) ? b : a));
  } else {
    const [x, y] = drawing.at.get(current);
    let best = Infinity;
    let next = current;
    for (const k of graph.keys) {
      const [kx, ky] = drawing.at.get(k);
      const d = (kx - x) * dx;
      if (Math.abs(ky - y) < height && d > 0 && d < best) {
        best = d;
        next = k;
      }
    }
    current = next;
  }
  choose(current);
  reveal(current);
};

const keyboard = () => {
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const arrows = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[e.key];
    if (arrows && e.shiftKey) move(-60 * arrows[0], -60 * arrows[1]);
    else if (arrows) step(...arrows);
    else if (e.key === "+" || e.key === "=") zoom(1.25);
    else if (e.key === "-" || e.key === "_") zoom(0.8);
    else if (e.key === "0") fit();
    else if (e.key === "Enter" || e.key === " ") {
      if (isGroup(current)) toggle(groupOf(current));
      else if (current >= 0 && ops[current].group >= 0 && !(allOpen() && data.closed)) toggle(ops[current].group);
    } else if (e.key === "Escape") select({}, "graph");
    else return;
    e.preventDefault();
  });
};

const legend = () => {
  const box = document.getElementById("graph-legend");
  const names = { raw: "read after write", war: "write after read", waw: "write after write", after: "order of the program", body: "body of a loop or branch" };
  const used = new Set(data.edges.map((e) => e.hazard.split("|")[0]));
  const samples = [...Object.keys(names).filter((h) => used.has(h)).map((h) => [h, names[h]])];
  if (data.plans.some((p) => p.path.length)) samples.push(["path", "critical path"]);
  box.replaceChildren(...samples.map(([h, name]) => {
    const span = document.createElement("span");
    const sample = document.createElement("canvas");
    sample.setAttribute("aria-hidden", "true");
    span.append(sample, name);
    const draw = watchCanvas(sample, (c, w, hh) => {
      c.strokeStyle = colours()[h];
      c.lineWidth = h === "path" ? 2.6 : 1.6;
      c.setLineDash(dashes[h] || []);
      c.beginPath();
      c.moveTo(0, hh / 2);
      c.lineTo(w, hh / 2);
      c.stroke();
    });
    onTheme(draw);
    return span;
  }), Object.assign(document.createElement("span"), { textContent: "The colour of a node is its lane." }));
};

export const startGraph = () => {
  pointer();
  keyboard();
  legend();
  onTheme(redraw);
  implied.addEventListener("change", () => rebuild());
  document.getElementById("graph-in").addEventListener("click", () => zoom(1.3));
  document.getElementById("graph-out").addEventListener("click", () => zoom(1 / 1.3));
  document.getElementById("graph-fit").addEventListener("click", fit);
  document.getElementById("group-buttons").hidden = data.groups.length === 0;
  document.getElementById("open-all").addEventListener("click", () => {
    data.groups.forEach((_, g) => open.add(g));
    rebuild();
  });
  document.getElementById("close-all").addEventListener("click", () => {
    open.clear();
    rebuild();
  });
  implied.closest("label").hidden = !data.edges.some((e) => !e.kept);
  watch((from) => {
    if (from !== "graph" && selection.op >= 0) show(selection.op);
    describe();
    redraw();
  });
  rebuild();
};

export { toggle as toggleGroup };

// nodeAt and edgeAt return where the page shows an operation's node and a dependency, for scripts: [x, y], or null.
const client = ([x, y]) => {
  const r = canvas.getBoundingClientRect();
  return [r.left + x, r.top + y];
};
export const nodeAt = (op) => (drawing.at.has(keyOf(op)) ? client(screenOf(keyOf(op))) : null);
export const edgeAt = (i) => {
  const e = graph.edges.find((one) => one.all.includes(i));
  if (!e) return null;
  const [x, y] = e.points[Math.floor(e.points.length / 2)];
  return client([x * view.k + view.x, y * view.k + view.y]);
};
export const scale = () => view.k;
