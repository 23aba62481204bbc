// Places the visible graph. The layouts with all groups open and all closed are in the data. Others come from dagre in a
// worker, up to maxWorker nodes; beyond, an open operation has its place of the open layout, and a closed group is in the
// middle of its operations there.
import { allOpen, groupOf, height, isGroup, open, widthOf } from "./model.js";
import { data } from "./store.js";

const maxWorker = 240;
let worker = null;
let last = 0;

const make = () => {
  const source = document.getElementById("layout").textContent;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } catch {
    return null; // the browser allows no workers for this page
  }
};

const drawn = (drawing, keys) => ({
  at: new Map(keys.map((k) => [k, drawing.at[k]])),
  routes: drawing.routes || {},
  width: drawing.width,
  height: drawing.height,
});

const middle = (keys) => {
  const at = new Map();
  for (const k of keys) {
    if (!isGroup(k)) {
      at.set(k, data.open.at[k]);
      continue;
    }
    const list = data.groups[groupOf(k)].ops;
    const sum = list.reduce((s, v) => [s[0] + data.open.at[v][0], s[1] + data.open.at[v][1]], [0, 0]);
    at.set(k, [sum[0] / list.length, sum[1] / list.length]);
  }
  return { at, routes: {}, width: data.open.width, height: data.open.height };
};

// place returns a layout at once, or a promise of it: {at: Map of key to [x, y], routes by dependency, width, height}.
export const place = (graph) => {
  last++;
  if (allOpen()) return drawn(data.open, graph.keys);
  if (open.size === 0 && data.closed) return drawn(data.closed, graph.keys);
  if (graph.keys.length > maxWorker) return middle(graph.keys);
  worker ||= make();
  if (!worker) return middle(graph.keys);
  const id = last;
  const kept = graph.edges.filter((e) => e.kept);
  return new Promise((resolve) => {
    worker.onmessage = ({ data: m }) => {
      if (m.id !== last) return; // a later request has replaced this one
      const routes = {};
      for (const [i, points] of m.routes) routes[kept[i].all[0]] = points;
      resolve({ at: new Map(m.at.map(([k, x, y]) => [k, [x, y]])), routes, width: m.width, height: m.height });
    };
    worker.postMessage({ id, nodes: graph.keys.map((k) => [k, widthOf(k), height]), edges: kept.map((e) => [e.from, e.to]) });
  });
};
