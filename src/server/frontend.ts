import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { extname, join, posix } from "node:path";

/** One file of the built page. */
export interface FrontendFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
  /** The name holds a hash of the content: it never changes. */
  immutable: boolean;
}

/** The built page: a list of files made once, so that no address can name any other file. */
export interface Frontend {
  /** `path` as in the address, `/` being the page itself; `undefined`: no such file. */
  read(path: string): Promise<FrontendFile | undefined>;
}

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Lists the files of a build; `undefined` where there is none. */
export async function openFrontend(folder: string): Promise<Frontend | undefined> {
  const files = new Map<string, string>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || !(extname(entry.name) in TYPES)) continue;
    const file = join(entry.parentPath, entry.name);
    const address = posix.join("/", file.slice(folder.length).replaceAll("\\", "/"));
    files.set(address, file);
  }
  const page = files.get("/index.html");
  if (page === undefined) return undefined;
  files.set("/", page);
  const read = new Map<string, FrontendFile>();

  return {
    async read(path) {
      const known = read.get(path);
      if (known) return known;
      const file = files.get(path);
      if (file === undefined) return undefined;
      const body = await readRegular(file);
      if (!body) return undefined;
      const found = {
        body,
        type: TYPES[extname(file)] ?? "application/octet-stream",
        etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
        immutable: path.startsWith("/assets/"),
      };
      read.set(path, found);
      return found;
    },
  };
}

/** Opens first and looks at the handle then: between a look and an opening a file could become a link to another. */
async function readRegular(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(() => undefined);
  if (!handle) return undefined;
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    return new Uint8Array(await handle.readFile());
  } finally {
    await handle.close();
  }
}
