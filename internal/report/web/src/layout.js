// The worker that places nodes with dagre. It receives {id, nodes: [[key, width, height]], edges: [[from, to]]} and
// answers {id, at: [[key, x, y]], routes: [[index, points]], width, height}.
import { Graph, layout } from "@dagrejs/dagre";

self.onmessage = ({ data }) => {
  const g = new Graph({ multigraph: true });
  g.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 44, ranker: "network-simplex" });
  g.setDefaultEdgeLabel(() => ({}));
  for (const [key, width, height] of data.nodes) g.setNode(String(key), { width, height });
  data.edges.forEach(([from, to], i) => g.setEdge(String(from), String(to), {}, String(i)));
  layout(g);
  const at = g.nodes().map((key) => [Number(key), g.node(key).x, g.node(key).y]);
  const routes = g.edges().map((e) => [Number(e.name), g.edge(e).points.map((p) => [p.x, p.y])]);
  const { width, height } = g.graph();
  self.postMessage({ id: data.id, at, routes, width, height });
};
