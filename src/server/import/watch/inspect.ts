import { lstat, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { CodedText } from "../../../model/text/catalog.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { Format, SessionPath } from "../../../sources/contract.ts";
import { OPEN_FLAGS } from "../../files/follow.ts";
import type { FoundFile } from "./found-file.ts";
import { pathWithin, type Start } from "./starts.ts";
import { isMissing, whyUnread } from "./why-unread.ts";

/** Checks single files. */
export interface Inspector {
  /** Checks one file. `undefined`: it does not exist or is not a session file. */
  inspect(start: Start, path: string): Promise<FoundFile | undefined>;
  /** Forgets the detected format of a path. */
  forget(path: string): void;
}

interface InspectorOptions {
  formats: readonly Format[];
  /** See `WatchOptions`. */
  recognize?(path: string, head: Uint8Array): Format | undefined;
  isStore?(path: string, head: Uint8Array): boolean;
  isOff(format: Format): boolean;
  /** `undefined`: the path has no error any more. */
  setError(path: string, why: CodedText | undefined): void;
}

const HEAD_FOR_DETECTION = 64 * 1024;

/** Finds the formats of files by their paths, and by their first bytes if the path does not show it. */
export function createInspector(options: InspectorOptions): Inspector {
  const { isOff, setError } = options;
  /** Formats that were detected by content, with the stamp of the file at the time. */
  const detected = new Map<string, { stamp: string; format: Format | undefined }>();

  /**
   * A file's format and kind. Reads its first bytes only in a folder that the user named, if the path does not show the format.
   */
  async function classify(
    start: Start,
    path: string,
    stamp: string,
  ): Promise<({ format: Format } & SessionPath) | undefined> {
    if (start.known) return start.known;
    const name = pathWithin(start, path);
    if (start.format) {
      const found = start.format.classify(name);
      return found && { format: start.format, ...found };
    }
    const expected = options.formats.filter((format) => format.classify(name));
    if (!start.single && expected.length === 0 && !/\.jsonl(\.zst)?$/.test(path)) return undefined;
    // Several agents use the same names, so the content decides.
    const format = await detectFormat(path, stamp, [...expected, ...options.formats]);
    return format && { format, ...(format.classify(name) ?? { kind: "session" }) };
  }

  async function detectFormat(
    path: string,
    stamp: string,
    formats: readonly Format[],
  ): Promise<Format | undefined> {
    const known = detected.get(path);
    if (known && (known.format || known.stamp === stamp)) return known.format;
    const head = await readHead(path, HEAD_FOR_DETECTION);
    const format = head && recognize(path, head, formats);
    detected.set(path, { stamp, format });
    return format;
  }

  function recognize(path: string, head: Uint8Array, formats: readonly Format[]): Format | undefined {
    if (options.recognize) return options.recognize(path, head);
    if (options.isStore?.(path, head) === true) return undefined;
    return formats.find((candidate) => candidate.detect(head));
  }

  async function inspect(start: Start, path: string): Promise<FoundFile | undefined> {
    try {
      const state = await lstat(path, { bigint: true });
      if (start.single) setError(path, undefined);
      if (!state.isFile()) {
        if (start.single) setError(path, daemonText("path_not_file", { path }));
        return undefined;
      }
      const inode = `${state.dev}:${state.ino}`;
      const size = Number(state.size);
      const modified_at = Number(state.mtimeNs) / 1e6;
      const what = await classify(start, path, `${inode}:${size}:${modified_at}`);
      if (!what) {
        if (start.single) setError(path, daemonText("path_no_session", { path }));
        return undefined;
      }
      if (isOff(what.format)) {
        if (start.single) setError(path, daemonText("path_switched_off", { path, agent: what.format.name }));
        return undefined;
      }
      const side = what.side === undefined ? undefined : resolveBeside(start, path, what.side);
      // A file that the user named is read in any case.
      const replaced_by =
        start.single === true || what.replaced_by === undefined
          ? undefined
          : resolveBeside(start, path, what.replaced_by);
      const side_stamp = side === undefined ? undefined : await stampOf(side);
      return {
        path,
        format: what.format,
        kind: what.kind,
        ...(side !== undefined && { side }),
        ...(replaced_by !== undefined && { replaced_by }),
        ...(side_stamp !== undefined && { side_stamp }),
        inode,
        size,
        modified_at,
        sample: start.sample === true,
      };
    } catch (error) {
      if (!isMissing(error)) setError(path, whyUnread(path, error));
      return undefined;
    }
  }

  return { inspect, forget: (path) => void detected.delete(path) };
}

/**
 * Resolves the path of a file beside the session file as the format returns it, absolute or relative. It must be in the same
 * folder.
 */
function resolveBeside(start: Start, path: string, other: string): string {
  const resolved = other.startsWith("/") ? other : join(start.base, other);
  return dirname(resolved) === dirname(path) ? resolved : join(dirname(path), basename(other));
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const state = await lstat(path, { bigint: true });
    return state.isFile() ? `${state.ino}:${state.size}:${state.mtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}

async function readHead(path: string, length: number): Promise<Uint8Array | undefined> {
  const handle = await open(path, OPEN_FLAGS);
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await handle.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
