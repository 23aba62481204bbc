// Builds dist/ from src/, and records what it was built from. Run it by `make report-web`.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const options = { bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii", legalComments: "none", logLevel: "warning" };
mkdirSync("dist", { recursive: true });
const licence = readFileSync("node_modules/@dagrejs/dagre/LICENSE", "utf8").trim();
await build({ ...options, banner: { js: `/* dagre (https://github.com/dagrejs/dagre)\n\n${licence}\n*/` }, entryPoints: ["src/layout.js"], outfile: "dist/layout.js" });
await build({ ...options, entryPoints: ["src/main.js"], outfile: "dist/report.js" });
copyFileSync("node_modules/@dagrejs/dagre/LICENSE", "dist/LICENSE.dagre");

const sum = (path) => createHash("sha256").update(readFileSync(path)).digest("hex") + "  " + path;
const sources = readdirSync("src").sort().map((name) => "src/" + name);
const lines = [...sources, "build.mjs", "package.json", "package-lock.json", "dist/LICENSE.dagre", "dist/layout.js", "dist/report.js"].map(sum);
writeFileSync("dist/SHA256SUMS", lines.join("\n") + "\n");
