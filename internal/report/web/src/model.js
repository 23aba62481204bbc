// The visible graph: operations and closed groups, and the edges between them. The key of an operation is its index, that of
// a group is the number of operations plus its index.
import { clip } from "./format.js";
import { data, ops } from "./store.js";

const n = ops.length;
export const isGroup = (key) => key >= n;
export const groupOf = (key) => key - n;
export const groupKey = (g) => n + g;

export const height = 36; // as in package report
export const titleOf = (key) => (isGroup(key) ? data.groups[groupOf(key)].title : ops[key].title);
export const labelOf = (key) => clip(titleOf(key), 26);
export const widthOf = (key) => {
  const room = isGroup(key) ? 7 : 0;
  return Math.ceil(30 + 7.5 * Math.min(26, Math.max(6, titleOf(key).length + room)));
};

export const open = new Set(data.closed ? [] : data.groups.map((_, g) => g));
export const allOpen = () => open.size === data.groups.length;

// keyOf returns the visible node of an operation.
export const keyOf = (op) => {
  const g = ops[op].group;
  return g < 0 || open.has(g) ? op : groupKey(g);
};

// visible returns the nodes and the edges that the open groups leave. An edge between groups stands for several
// dependencies, whose indices it holds; that of the first is its identity.
export const visible = (implied) => {
  const keys = [];
  const seen = new Set();
  for (let v = 0; v < n; v++) {
    const key = keyOf(v);
    if (!seen.has(key)) {
      seen.add(key);
      keys.push(key);
    }
  }
  const edges = new Map();
  data.edges.forEach((e, i) => {
    if (!e.kept && !implied) return;
    const from = keyOf(e.from);
    const to = keyOf(e.to);
    if (from === to) return;
    const id = from * (2 * n + 1) + to;
    const one = edges.get(id);
    if (one) {
      one.all.push(i);
      one.kept ||= e.kept;
    } else edges.set(id, { from, to, all: [i], kept: e.kept, hazard: e.hazard.split("|")[0], route: null });
  });
  return { keys, edges: [...edges.values()] };
};
