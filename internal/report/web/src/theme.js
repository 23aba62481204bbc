// Colours, light and dark. Canvases read them from here; the rest of the page has CSS variables.

const root = document.documentElement;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let choice = "auto";
const watchers = [];

export const onTheme = (f) => watchers.push(f);
export const isDark = () => choice === "dark" || (choice === "auto" && dark.matches);

const lanesLight = ["#4269d0", "#d98a00", "#2f9e6e", "#c2459b", "#7b52d3", "#0d8fb3", "#a9582f", "#6b7f1e", "#d2544a", "#6c7480"];
const lanesDark = ["#7f9df2", "#f0b84a", "#63cfa0", "#f08fc8", "#b497ff", "#5cc7e8", "#d99a72", "#b5c95f", "#ff8f85", "#a6aebb"];

export const laneColour = (lane) => {
  const palette = isDark() ? lanesDark : lanesLight;
  return lane < 0 ? palette[9] : palette[lane % palette.length];
};

// inkOn returns the colour of text on a colour, by its relative luminance (WCAG 2).
export const inkOn = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#10131a" : "#ffffff";
};

const light = { text: "#1b1f27", muted: "#5c6470", line: "#dfe2e8", card: "#ffffff", page: "#f4f5f7", path: "#d4351c", accent: "#2f5fd0", raw: "#77808f", war: "#b06a00", waw: "#8a3ffc", after: "#0b7a75", body: "#9aa1ac" };
const night = { text: "#e8eaef", muted: "#a0a8b6", line: "#2e3440", card: "#1a1e26", page: "#12151b", path: "#ff7a66", accent: "#8ab0ff", raw: "#8b95a5", war: "#e5a443", waw: "#c09bff", after: "#57c8c0", body: "#6d7684" };
export const colours = () => (isDark() ? night : light);

export const font = (size, weight = 400) => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif`;

const apply = () => {
  root.dataset.theme = isDark() ? "dark" : "light";
  for (const b of document.querySelectorAll("[data-theme-choice]")) {
    const on = b.dataset.themeChoice === choice;
    b.setAttribute("aria-checked", String(on));
    b.tabIndex = on ? 0 : -1;
  }
  watchers.forEach((f) => f());
};

const choose = (name) => {
  choice = name;
  try {
    localStorage.setItem("reprise-theme", name);
  } catch {
    // a page in a sandbox has no storage
  }
  apply();
};

export const startTheme = () => {
  try {
    choice = localStorage.getItem("reprise-theme") || "auto";
  } catch {
    choice = "auto";
  }
  const buttons = [...document.querySelectorAll("[data-theme-choice]")];
  buttons.forEach((b, i) => {
    b.addEventListener("click", () => choose(b.dataset.themeChoice));
    b.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const next = buttons[(i + step + buttons.length) % buttons.length];
      next.focus();
      choose(next.dataset.themeChoice);
    });
  });
  dark.addEventListener("change", apply);
  apply();
};
