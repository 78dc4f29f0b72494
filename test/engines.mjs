// `npm run test:engines`: the harness of hostile text in Debian's Firefox and in WebKitGTK. Installs them where apt can, else
// says what is missing.
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const inPath = (name) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

const missing = [
  ...(inPath("firefox-esr") || inPath("firefox") ? [] : ["firefox-esr"]),
  ...(inPath("WebKitWebDriver") && globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser").length > 0
    ? []
    : ["webkit2gtk-driver"]),
  ...(inPath("Xvfb") ? [] : ["xvfb"]),
];
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
} else if (missing.length > 0) {
  console.error(`Not here, and no apt-get to install it: ${missing.join(", ")}. What is there is tested.`);
}

const run = (...command) => {
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};
run(join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn");
run(join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "engines");
