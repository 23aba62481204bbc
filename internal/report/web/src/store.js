// The data of the report, and what is selected in it.

export const data = JSON.parse(document.getElementById("data").textContent);
export const ops = data.operations;

// selection: a plan is always selected; at most one of op, edge and group.
export const selection = { plan: 0, op: -1, edge: -1, group: -1 };

const watchers = [];
export const watch = (f) => watchers.push(f);
const changed = (from) => watchers.forEach((f) => f(from));

export const plan = () => data.plans[selection.plan];

// from names the view that made the change, so that it does not move itself.
export const select = (what, from) => {
  Object.assign(selection, { op: -1, edge: -1, group: -1 }, what);
  changed(from);
};

export const choosePlan = (i) => {
  selection.plan = i;
  changed("plans");
};

export const announce = (text) => {
  document.getElementById("live").textContent = text;
};

// Indices of edges by the operations that they end and begin at.
export const into = ops.map(() => []);
export const out = ops.map(() => []);
data.edges.forEach((e, i) => {
  into[e.to].push(i);
  out[e.from].push(i);
});

// onPath holds, by plan, the spans and the operations of the critical path in order.
const paths = new Map();
export const path = (p = plan()) => {
  if (!paths.has(p)) {
    const spans = p.path.filter((s) => s.span >= 0 && !s.gap).map((s) => s.span);
    const order = spans.map((s) => p.spans[s].op);
    const edges = new Set();
    for (let i = 1; i < order.length; i++) {
      for (const e of into[order[i]]) if (data.edges[e].from === order[i - 1]) edges.add(e);
    }
    paths.set(p, { spans: new Set(spans), ops: new Set(order), edges });
  }
  return paths.get(p);
};

// spansOf returns the spans of an operation in a plan.
const byOp = new Map();
export const spansOf = (p, op) => {
  if (!byOp.has(p)) {
    const all = ops.map(() => []);
    p.spans.forEach((s, i) => all[s.op].push(i));
    byOp.set(p, all);
  }
  return byOp.get(p)[op];
};

export const planName = (p) => `${p.strategy} / ${p.backend}`;
