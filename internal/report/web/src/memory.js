// Device memory over time, of the selected plan.
import { watchCanvas } from "./canvas.js";
import { bytes, time } from "./format.js";
import { data, plan, planName, watch } from "./store.js";
import { colours, font, onTheme } from "./theme.js";

const canvas = document.getElementById("memory");
const left = 84;
const right = 16;

const draw = (c, w, h) => {
  const colour = colours();
  const p = plan();
  const m = p.memory;
  const top = Math.max(1, m.separate, m.shared, ...m.live.map((l) => l[1])) * 1.12;
  const base = h - 26;
  const x = (t) => left + (t / p.total) * (w - left - right);
  const y = (b) => base - (b / top) * (base - 12);
  c.font = font(11.5);
  c.textBaseline = "middle";
  for (let i = 0; i <= 4; i++) {
    const v = (top / 1.12) * (i / 4);
    c.strokeStyle = colour.line;
    c.beginPath();
    c.moveTo(left, Math.round(y(v)) + 0.5);
    c.lineTo(w - right, Math.round(y(v)) + 0.5);
    c.stroke();
    c.fillStyle = colour.muted;
    c.textAlign = "right";
    c.fillText(bytes(v), left - 10, y(v));
  }
  c.textAlign = "left";
  c.fillText("0", left, h - 12);
  c.textAlign = "right";
  c.fillText(time(p.total), w - right, h - 12);
  c.beginPath();
  c.moveTo(x(0), base);
  m.live.forEach(([t, b], i) => {
    c.lineTo(x(t), y(i ? m.live[i - 1][1] : b));
    c.lineTo(x(t), y(b));
  });
  c.lineTo(x(p.total), y(m.live[m.live.length - 1][1]));
  c.lineTo(x(p.total), base);
  c.closePath();
  c.fillStyle = colour.accent;
  c.globalAlpha = 0.28;
  c.fill();
  c.globalAlpha = 1;
  line(c, x, y(m.separate), p, colour.text, []);
  if (m.shared < m.separate) line(c, x, y(m.shared), p, colour.path, [7, 4]);
};

const line = (c, x, at, p, stroke, dash) => {
  c.strokeStyle = stroke;
  c.lineWidth = 2;
  c.setLineDash(dash);
  c.beginPath();
  c.moveTo(x(0), at);
  c.lineTo(x(p.total), at);
  c.stroke();
  c.setLineDash([]);
  c.lineWidth = 1;
};

const describe = () => {
  const m = plan().memory;
  const peak = Math.max(...m.live.map((l) => l[1]));
  const saved = m.separate - m.shared;
  const text = saved > 0
    ? `${bytes(m.separate)} with a place for each buffer, ${bytes(m.shared)} if temporaries share memory (${Math.round((100 * saved) / m.separate)} % less)`
    : `${bytes(m.separate)}; sharing memory saves nothing for these lanes`;
  document.getElementById("memory-summary").textContent = text;
  canvas.setAttribute("aria-label", `Device memory of ${planName(plan())}: ${text}. At most ${bytes(peak)} are in use at once.`);
};

const key = (name, paint) => {
  const span = document.createElement("span");
  const sample = document.createElement("canvas");
  sample.setAttribute("aria-hidden", "true");
  onTheme(watchCanvas(sample, paint));
  span.append(sample, name);
  return span;
};

const stroke = (colour, dash) => (c, w, h) => {
  c.strokeStyle = colours()[colour];
  c.lineWidth = 2;
  c.setLineDash(dash);
  c.beginPath();
  c.moveTo(0, h / 2);
  c.lineTo(w, h / 2);
  c.stroke();
};

export const startMemory = () => {
  const redraw = watchCanvas(canvas, draw);
  onTheme(redraw);
  document.getElementById("memory-legend").append(
    key("buffers in use", (c, w, h) => {
      c.fillStyle = colours().accent;
      c.globalAlpha = 0.28;
      c.fillRect(0, 0, w, h);
    }),
    key("allocated, a place for each buffer", stroke("text", [])),
    ...(data.plans.some((p) => p.memory.shared < p.memory.separate) ? [key("allocated, temporaries share memory (--also memplan)", stroke("path", [7, 4]))] : []),
  );
  watch(() => {
    describe();
    redraw();
  });
  describe();
};
