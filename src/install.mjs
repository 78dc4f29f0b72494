// What is installed, for what runs before anything is: `npm start` and `npm test`. Plain JavaScript for whatever Node the
// machine has, and nothing but Node's own modules.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const windows = process.platform === "win32";

/** The pinned Node, a dev dependency. */
export const nodeOf = (root) => join(root, "node_modules/node/bin", windows ? "node.exe" : "node");

/** Whether node_modules holds exactly what package-lock.json names (but what is optional). */
export function isInstalled(root) {
  const wanted = readPackages(join(root, "package-lock.json"));
  const present = readPackages(join(root, "node_modules/.package-lock.json"));
  if (!wanted || !present || !existsSync(nodeOf(root))) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const installed = present[path];
    return installed ? installed.version === entry.version : Boolean(entry.optional || entry.peer);
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Installs what package-lock.json names; what npm says goes to standard error. Returns what went wrong, if anything did. */
export function install(root) {
  const options = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const [command, ...rest] = npm?.endsWith(".js") ? [process.execPath, npm, ...options] : ["npm", ...options];
  const shell = windows && command === "npm";
  const { status, error } = spawnSync(command, rest, { cwd: root, stdio: ["ignore", 2, 2], shell });
  if (error) return `The installation failed: ${error.message}.`;
  if (status !== 0) return `The installation failed (exit code ${status}).`;
  if (existsSync(nodeOf(root))) return undefined;
  return `The installation left out Node itself (${nodeOf(root)}). Are install scripts switched off? Allow them: npm ci --ignore-scripts=false`;
}
