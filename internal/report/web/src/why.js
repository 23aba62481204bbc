// The panel that explains the selected operation, edge or group.
import { because, bytes, clip, count, el, micros, percent, time } from "./format.js";
import { keyOf, open } from "./model.js";
import { toggleGroup } from "./graph.js";
import { choosePlan, data, into, ops, out, path, plan, planName, select, selection, spansOf, watch } from "./store.js";

const list = (pairs) => el("dl", {}, pairs.filter(Boolean).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
const name = (text, lead) => [el("p", { class: "name" }, text), lead ? el("p", { class: "lead" }, lead) : null];

const link = (text, aside, onclick) => el("li", {}, el("button", { type: "button", onclick }, el("span", {}, text), el("span", {}, aside)));

// before returns the operation before another one on its lane in the timeline of a plan, -1 for none.
const before = (p, op) => {
  const mine = spansOf(p, op);
  if (!mine.length) return -1;
  const s = p.spans[mine[0]];
  let best = -1;
  p.spans.forEach((t, i) => {
    if (t.row === s.row && t.begin < s.begin && (best < 0 || t.begin > p.spans[best].begin)) best = i;
  });
  return best < 0 ? -1 : p.spans[best].op;
};

// whyLane says why an operation is on its lane, as far as the plan shows.
const whyLane = (p, op) => {
  const lane = `lane ${p.lane[op]}`;
  const u = before(p, op);
  if (u < 0) return `It is the first operation on ${lane}.`;
  const edge = into[op].map((i) => data.edges[i]).find((e) => e.from === u);
  if (edge) return `On ${lane} it follows ${ops[u].title}, on which it depends. The lane orders the two, so no wait is needed.`;
  return `On ${lane} it follows ${ops[u].title}, on which it does not depend. The lane orders the two all the same.`;
};

// whyWhen says what the begin of an operation waited for.
const whyWhen = (p, op) => {
  const mine = spansOf(p, op);
  if (!mine.length) return "It ran nothing on the device.";
  const s = p.spans[mine[0]];
  let last = -1;
  let end = -1;
  for (const i of into[op]) {
    for (const k of spansOf(p, data.edges[i].from)) {
      if (p.spans[k].end > end && p.spans[k].end <= s.begin) {
        end = p.spans[k].end;
        last = data.edges[i].from;
      }
    }
  }
  const u = before(p, op);
  const lane = u < 0 ? -1 : Math.max(...spansOf(p, u).map((k) => p.spans[k].end).filter((e) => e <= s.begin), -1);
  if (last < 0 && lane < 0) return "It waited for the launch only.";
  if (lane > end) return `It began ${time(s.begin - lane)} after ${ops[u].title} ended, which is before it on the lane.`;
  return `It began ${time(s.begin - end)} after ${ops[last].title} ended, the last operation that it depends on.`;
};

const hazards = (indices, end) => el("ul", {}, indices.slice(0, 60).map((i) => {
  const e = data.edges[i];
  return link(ops[e[end]].title, `${e.hazard} ${clip(e.range || "", 22)}${e.kept ? "" : " (implied)"}`, () => select({ edge: i }, "why"));
}));

const operation = (op) => {
  const o = ops[op];
  const p = plan();
  const mine = spansOf(p, op);
  const s = p.spans[mine[0]];
  const took = mine.reduce((sum, i) => sum + p.spans[i].end - p.spans[i].begin, 0);
  return [
    ...name(o.title, [o.number, o.kernel && o.kernel !== o.title ? o.kernel : o.kind, o.source].filter(Boolean).join(" · ")),
    el("p", { class: "say" }, whyWhen(p, op), " ", whyLane(p, op), path().ops.has(op) ? " It is on the critical path." : ""),
    list([
      ["time", mine.length > 1 ? `${time(took)} in ${mine.length} iterations` : s ? time(took) : "–"],
      s && ["begin", time(s.begin)],
      s && s.begin > s.ready && ["waited for the device", time(s.begin - s.ready)],
      s && s.bound && ["bound by", s.bound],
      s && s.on_path && ["on the critical path", time(s.on_path)],
      s && s.warps && ["fills of the device", s.warps + " %"],
      o.grid && ["grid, block", `${o.grid} ${o.block}`],
      o.reads && ["reads", o.reads.join(", ")],
      o.writes && ["writes", o.writes.join(", ")],
    ]),
    into[op].length ? [el("h3", {}, "Depends on"), hazards(into[op], "from")] : null,
    out[op].length ? [el("h3", {}, "Needed by"), hazards(out[op], "to")] : null,
    el("h3", {}, "In each plan"),
    comparison(op),
  ];
};

const comparison = (op) => el("table", {},
  el("thead", {}, el("tr", {}, ["plan", "lane", "begin", "time"].map((h) => el("th", { scope: "col" }, h)))),
  el("tbody", {}, data.plans.map((p, i) => {
    const s = p.spans[spansOf(p, op)[0]];
    return el("tr", { class: i === selection.plan ? "selected" : "", onclick: () => choosePlan(i) },
      el("td", {}, planName(p)), el("td", {}, String(p.lane[op])), el("td", {}, s ? micros(s.begin) : "–"), el("td", {}, s ? micros(s.end - s.begin) : "–"));
  })));

// ordered says how a plan keeps a dependency.
const ordered = (p, e) => {
  if (e.hazard === "body") return "The operation is in the body of the other one.";
  if (!e.kept) return "Other dependencies imply it, so it needs no wait of its own.";
  if (p.lane[e.from] === p.lane[e.to]) return `Both are on lane ${p.lane[e.to]}, which orders them. No wait is needed.`;
  const wait = p.wait_pairs.some(([u, v]) => p.spans[u].op === e.from && p.spans[v].op === e.to);
  return wait ? `A wait between lanes ${p.lane[e.from]} and ${p.lane[e.to]} orders them.` : "The waits and lanes of other operations order them, so no wait of its own is needed.";
};

const edge = (i) => {
  const e = data.edges[i];
  const p = plan();
  const [u, v] = [p.spans[spansOf(p, e.from).at(-1)], p.spans[spansOf(p, e.to)[0]]];
  return [
    ...name(`${ops[e.from].title} → ${ops[e.to].title}`, `${ops[e.from].number} → ${ops[e.to].number}`),
    el("p", { class: "say" }, `${ops[e.to].title} ${because(e.hazard)}${e.range ? ": " + e.range : ""}. `, ordered(p, e), path().edges.has(i) ? " It is on the critical path." : ""),
    list([
      ["hazard", e.hazard],
      e.range && ["bytes", `${e.range}, ${bytes(e.bytes)}`],
      ops[e.from].source && ["first line", ops[e.from].source],
      ops[e.to].source && ["second line", ops[e.to].source],
      u && v && e.hazard !== "body" && ["from end to begin", time(v.begin - u.end)],
    ]),
    el("h3", {}, "Operations"),
    el("ul", {}, [e.from, e.to].map((op) => link(ops[op].title, ops[op].number, () => select({ op }, "why")))),
  ];
};

const group = (g) => {
  const p = plan();
  const list_ = data.groups[g].ops;
  const on = list_.filter((v) => path().ops.has(v)).length;
  const lanes = new Set(list_.map((v) => p.lane[v]));
  const spent = list_.reduce((sum, v) => sum + spansOf(p, v).reduce((t, i) => t + p.spans[i].end - p.spans[i].begin, 0), 0);
  return [
    ...name(data.groups[g].title, "a group of " + count(list_.length, "operation")),
    list([["operations", `${ops[list_[0]].number} to ${ops[list_.at(-1)].number}`], ["lanes", String(lanes.size)], ["their times add up to", time(spent)], ["on the critical path", count(on, "operation")]]),
    el("p", { class: "note" }, el("button", { type: "button", onclick: () => toggleGroup(g) }, open.has(g) ? "Close the group" : "Open the group")),
    el("h3", {}, "Operations"),
    el("ul", {}, list_.slice(0, 100).map((op) => link(ops[op].title, ops[op].number, () => select({ op }, "why")))),
  ];
};

const overview = () => {
  const p = plan();
  const causes = [...p.causes].sort((a, b) => b.ps - a.ps);
  return [
    el("p", { class: "lead" }, "Select an operation or an edge to see why it is there. These are the causes of the time of ", el("b", {}, planName(p)), ", along its critical path:"),
    causes.length ? el("div", { class: "causes" }, causes.flatMap((c) => [c.cause, time(c.ps), percent(c.ps / p.total)].map((t) => el("span", {}, t)))) : el("p", { class: "note" }, "Causes are known on a simulated device only."),
    el("h3", {}, "Longest operations on the critical path"),
    el("ul", {}, longest(p).map(([op, ps]) => link(ops[op].title, time(ps), () => select({ op }, "why")))),
  ];
};

const longest = (p) => {
  const sums = new Map();
  for (const s of p.spans) if (s.on_path) sums.set(s.op, (sums.get(s.op) || 0) + s.on_path);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 8);
};

export const startWhy = () => {
  const box = document.getElementById("why");
  const show = () => {
    const parts = selection.op >= 0 ? operation(selection.op) : selection.edge >= 0 ? edge(selection.edge) : selection.group >= 0 ? group(selection.group) : overview();
    const inGroup = selection.op >= 0 && keyOf(selection.op) !== selection.op;
    if (inGroup) parts.splice(2, 0, el("p", { class: "note" }, "In group ", el("button", { type: "button", onclick: () => toggleGroup(ops[selection.op].group) }, data.groups[ops[selection.op].group].title), ", which is closed."));
    box.replaceChildren(...parts.flat(3).filter(Boolean));
  };
  watch(show);
  show();
};
