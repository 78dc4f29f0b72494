// `npm run test:engines`: a session in use, and the complete suite of hostile texts, in Debian's Firefox and in WebKitGTK.
// Installs them if apt can. Prints at its end which of them were tested, and fails if none is available.
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const inPath = (name) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

const ENGINES = [
  { name: "Firefox", needs: [["firefox-esr", () => inPath("firefox-esr") || inPath("firefox")]] },
  {
    name: "WebKitGTK",
    needs: [
      [
        "webkit2gtk-driver",
        () => inPath("WebKitWebDriver") && globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser").length > 0,
      ],
      ["xvfb", () => inPath("Xvfb")],
    ],
  },
];
const missingOf = ({ needs }) => needs.flatMap(([name, isHere]) => (isHere() ? [] : [name]));

const missing = ENGINES.flatMap(missingOf);
if (missing.length > 0 && existsSync("/usr/bin/apt-get")) {
  const privileges = process.getuid?.() === 0 ? [] : ["sudo"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const options of [
    ["update"],
    ["install", "-y", "--no-install-recommends", ...missing, "glib-networking"],
  ]) {
    const [command, ...rest] = [...privileges, "apt-get", "-qq", ...options];
    spawnSync(command, rest, { env, stdio: "inherit" });
  }
}

const results = ENGINES.map((engine) => {
  const lacks = missingOf(engine);
  return lacks.length === 0
    ? `${engine.name}: tested`
    : `${engine.name}: NOT TESTED, it is not installed (missing: ${lacks.join(", ")})`;
});
const none = ENGINES.every((engine) => missingOf(engine).length > 0);

const run = (...command) => {
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" });
  return status ?? 1;
};
let status = none ? 1 : run(join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn");
if (status === 0) status = run(join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "engines");
console.log(`\n${results.join("\n")}`);
process.exitCode = status;
