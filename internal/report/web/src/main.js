// The report page.
import { startFind } from "./find.js";
import { edgeAt, nodeAt, scale, startGraph } from "./graph.js";
import { startMemory } from "./memory.js";
import { choosePlan, data, select, selection } from "./store.js";
import { best, startTable } from "./table.js";
import { startTheme } from "./theme.js";
import { range, spanAt, startTimeline } from "./timeline.js";
import { startWhy } from "./why.js";

document.getElementById("program").textContent = data.program;
document.getElementById("device").textContent = `on ${data.device_name} (${data.device})` + (data.source === "simulator" ? ", virtual time" : ", times from events");
document.getElementById("footer").textContent = `Written by ${data.tool}. This file is complete and needs no network. The graph is placed with dagre (MIT licence).`;

startTheme();
startTable();
startGraph();
startTimeline();
startMemory();
startWhy();
startFind();
choosePlan(data.plans.indexOf(best()));
window.reprise = { data, selection, select, choosePlan, nodeAt, edgeAt, scale, spanAt, range }; // for scripts and tests
document.documentElement.dataset.ready = "true";
