import { createHash } from "node:crypto";
import { constants as fileConstants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { readAt } from "../files/follow.ts";

/** One file of the built page. */
interface FrontendFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
  /** The body compressed, made when it is first asked for; absent where it is short as it is. */
  brotli?(): Promise<Uint8Array<ArrayBuffer>>;
  /** The name holds a hash of the content: it never changes. */
  immutable: boolean;
}

/** The built page: a list of files made once, so that no address can name any other file. */
export interface Frontend {
  /** The address of the page's first script, which tells one build from another. */
  readonly build?: string;
  /** `path` as in the address, `/` being the page itself; `undefined`: no such file. */
  read(path: string): FrontendFile | undefined;
}

const isCompressible = (type: string): boolean => /^text\/|json|svg|wasm/.test(type);
/** All of the page's scripts take half a second; the best that can be would be a tenth shorter, and take ten. */
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
 * Reads the files of a build; `undefined` where there is none. All of them now: a build that takes its place has others, and
 * the page that began with this one asks for the rest of it later.
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

/** Opens first and looks at the handle then: between a look and an opening a file could become a link to another. */
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
