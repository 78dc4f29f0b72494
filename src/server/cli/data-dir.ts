import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { attempt } from "../usage-error.ts";

/** The data folder: `--data-dir`, or the platform's default. */
export function dataDirOf(flags: { "data-dir"?: string | undefined }): string {
  return resolve(flags["data-dir"] ?? defaultDataDir());
}

function defaultDataDir(): string {
  if (process.platform === "darwin") return join(homedir(), "Library/Application Support/Verbatim");
  if (process.platform === "win32") {
    return join(process.env.LOCALAPPDATA || join(homedir(), "AppData/Local"), "Verbatim");
  }
  return join(process.env.XDG_DATA_HOME || join(homedir(), ".local/share"), "verbatim");
}

/** The default folder for `--help`, with `~` for the home folder. */
export function defaultDataDirText(): string {
  const path = defaultDataDir();
  return path.startsWith(homedir()) ? `~${path.slice(homedir().length)}` : path;
}

/** Runs `work`, which uses the data folder. An error becomes a `UsageError` with the folder and a remedy. */
export function inDataFolder<Value>(data_dir: string, work: () => Value): Value {
  return attempt(
    work,
    `The data folder ${data_dir} cannot be used`,
    "Free some disk space, check its permissions, or choose another folder with --data-dir.",
  );
}
