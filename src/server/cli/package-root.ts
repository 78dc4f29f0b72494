import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asObject, asString } from "../../model/narrow.ts";

/** The folder of package.json: above `src/server/cli` in the sources, above `dist/server` in the package. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The version in package.json. */
export function readVersion(): string {
  const value: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  return asString(asObject(value)?.version) ?? "unknown";
}
