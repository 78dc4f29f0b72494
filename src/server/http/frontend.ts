import { createHash } from "node:crypto";
import { constants as fileConstants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { readAt } from "../files/follow.ts";

/** A file of the built page. */
interface FrontendFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
  /** The compressed body, created on first use. Absent if the file is short. */
  brotli?(): Promise<Uint8Array<ArrayBuffer>>;
  /** The file's name contains a hash, so its content never changes. */
  immutable: boolean;
}

/** The built page. The list of files is made once, so that no path can reach any other file. */
export interface Frontend {
  /** The path of the page's first script, which identifies the build. */
  readonly build?: string;
  /** `path`: as in the URL; `/` is the page itself. `undefined`: no such file. */
  read(path: string): FrontendFile | undefined;
}

const isCompressible = (type: string): boolean => /^text\/|json|svg|wasm/.test(type);
/** Compressing all scripts takes half a second. The best quality would save another tenth and take ten seconds. */
const QUALITY = 9;

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

/**
 * Reads the files of a build; `undefined` if there is none. All files are read now, because open pages still need them after a
 * rebuild replaces them.
 */
export async function openFrontend(folder: string): Promise<Frontend | undefined> {
  const files = new Map<string, FrontendFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const body = await readRegular(file);
    if (!body) continue;
    const address = posix.join("/", file.slice(folder.length).replaceAll("\\", "/"));
    files.set(address, {
      body,
      type,
      etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
      immutable: address.startsWith("/assets/"),
      ...(isCompressible(type) && { brotli: compressed(body) }),
    });
  }
  const page = files.get("/index.html");
  if (page === undefined) return undefined;
  files.set("/", page);
  const [, build] =
    /<script type="module"[^>]* src="([^"]+)"/.exec(new TextDecoder().decode(page.body)) ?? [];
  return { ...(build !== undefined && { build }), read: (path) => files.get(path) };
}

function compressed(body: Uint8Array): () => Promise<Uint8Array<ArrayBuffer>> {
  let made: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const make = async () =>
    new Uint8Array(
      await promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
    );
  return () => {
    made ??= make();
    return made;
  };
}

/** Opens the file first and then checks the handle: checked the other way round, it could be replaced by a link in between. */
async function readRegular(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const handle = await open(file, fileConstants.O_RDONLY | (fileConstants.O_NOFOLLOW ?? 0)).catch(
    () => undefined,
  );
  if (!handle) return undefined;
  try {
    const state = await handle.stat();
    if (!state.isFile()) return undefined;
    const body = new Uint8Array(state.size);
    await readAt(handle, 0, body.length, body);
    return body;
  } finally {
    await handle.close();
  }
}
