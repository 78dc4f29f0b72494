import { lookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import * as z from "zod";
import { isPublicAddress } from "../addresses.ts";
import { htmlToText } from "../html-text.ts";
import { allowsPrivateHost, decide, isPrivateName, type PermissionRule } from "../permissions.ts";
import { type Tool, type ToolContext, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput, requireWellFormed } from "../tool-input.ts";
import { keptFields, truncateText } from "../truncated-output.ts";

const input = z.object({ url: z.string().describe("URL of the page, http or https.") });

/** Maximum size of a page after decompression, in bytes. */
const SIZE_LIMIT = 5 * 1024 ** 2;
const TIME_LIMIT = 30_000;
const REDIRECT_LIMIT = 5;

interface WebFetchOptions {
  /** The current rules, for redirect targets and private addresses. */
  rules: () => readonly PermissionRule[];
  /** Time limit of a whole fetch, in milliseconds. */
  time_limit_ms?: number;
}

/**
 * Fetches a page with GET, without cookies, keys or a `Referer`. Connects only to the public internet: the address is checked
 * when the connection is made, which prevents DNS rebinding. Private addresses and names (this machine, its network) need a rule
 * that names them (`allowsPrivateHost`).
 */
export function createWebFetchTool({ rules, time_limit_ms = TIME_LIMIT }: WebFetchOptions): Tool {
  return {
    definition: {
      name: "web_fetch",
      description:
        "Fetches a web page with GET and returns its text. Redirects to another site are reported, not followed.",
      input_schema: inputSchema(input),
    },
    parallel: true,
    default_decision: "ask",
    time_limit_ms: time_limit_ms + 5_000,
    prepare(raw) {
      const { url: asked } = readInput(input, raw);
      requireWellFormed(asked, "The address");
      if (!URL.canParse(asked)) throw new ToolInputError(`${asked} is not a URL.`);
      const url = new URL(asked);
      url.hash = "";
      // Assigning "" removes the `?` of an empty query.
      if (url.search === "") url.search = "";
      const problem = problemWith(url, rules());
      if (problem !== undefined) throw new ToolInputError(problem);
      return {
        subject: `GET ${url.href}`,
        target: url.href,
        run: (context) => fetchPage(url, rules, time_limit_ms, context),
      };
    },
  };
}

/** The problem with a URL before its name is resolved, if any. */
function problemWith(url: URL, rules: readonly PermissionRule[]): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `Only http and https can be fetched, not ${url.protocol}`;
  if (url.username !== "" || url.password !== "")
    return "URLs with a user name or password cannot be fetched.";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Private names are checked before they are resolved, so that the user is not asked about a fetch that could never run.
  const isPrivate = isIP(host) === 0 ? isPrivateName(host) : !isPublicAddress(host);
  if (isPrivate && !allowsPrivateHost(rules, url.href)) return notPublic(host, host);
  return undefined;
}

function notPublic(host: string, address: string): string {
  const meant = host === address ? host : `${host} (${address})`;
  return `${meant} is not in the public internet. The user can allow it with a rule that names the host.`;
}

class FetchError extends Error {
  override readonly name = "FetchError";
}

async function fetchPage(
  start: URL,
  rules: () => readonly PermissionRule[],
  time_limit_ms: number,
  { host, call_id, signal }: ToolContext,
): Promise<ToolOutput> {
  const limit = AbortSignal.timeout(time_limit_ms);
  const either = AbortSignal.any([signal, limit]);
  let url = start;
  try {
    for (let redirects = 0; ; redirects++) {
      const response = await get(url, allowsPrivateHost(rules(), url.href), either);
      const status = response.statusCode ?? 0;
      const next = redirectOf(response, url);
      if (next === undefined) {
        const body = await readBody(response, either);
        const read = textOf(body.bytes, response.headers["content-type"] ?? "", url.href);
        const cut = await truncateText(read.text, host, call_id);
        const about = [
          `${status} ${response.statusMessage ?? ""}`.trim(),
          url.href,
          ...read.facts,
          ...body.facts,
        ];
        return {
          status: status < 400 && read.isText ? "success" : "error",
          output_text: `${about.join("\n")}\n\n${cut.text}`,
          ui_extra: {
            type: "web_fetch",
            url: url.href,
            status,
            byte_size: body.bytes.length,
            ...keptFields(cut),
          },
        };
      }
      response.destroy();
      if (redirects >= REDIRECT_LIMIT) throw new FetchError(`More than ${REDIRECT_LIMIT} redirects.`);
      const { decision } = decide(rules(), { tool_name: "web_fetch", target: next.href }, "ask");
      if (decision === "deny")
        throw new FetchError(`It redirects to ${next.href}, which a rule does not allow.`);
      const problem = problemWith(next, rules());
      if (problem !== undefined) throw new FetchError(`It redirects to ${next.href}. ${problem}`);
      if (decision === "ask" && !isSameSite(url, next)) {
        return {
          output_text: `${status}: it redirects to another site, which was not fetched. To follow it, fetch ${next.href}.`,
          ui_extra: { type: "web_fetch", url: url.href, status },
        };
      }
      url = next;
    }
  } catch (error) {
    const why = signal.aborted
      ? "Stopped."
      : limit.aborted
        ? `It took longer than ${time_limit_ms / 1_000} s.`
        : error instanceof Error
          ? error.message
          : String(error);
    return { status: "error", output_text: why, ui_extra: { type: "web_fetch", url: url.href } };
  }
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, url: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, url)) throw new FetchError("It redirects to an invalid URL.");
  const next = new URL(headers.location, url);
  next.hash = "";
  return next;
}

/**
 * Whether both URLs have the same host and port, or the same host with a change from http to https on default ports. Permission
 * for one then covers the other.
 */
function isSameSite(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  return (
    from.hostname === to.hostname &&
    from.protocol === "http:" &&
    to.protocol === "https:" &&
    from.port === "" &&
    to.port === ""
  );
}

function get(url: URL, allow_private: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: "GET",
        // Always use a new connection, because the address of a kept-alive connection would not be checked.
        agent: false,
        signal,
        lookup: checkedLookup(allow_private),
        headers: {
          "user-agent": "Verbatim",
          accept: "text/html,text/plain,application/json;q=0.9,*/*;q=0.5",
          "accept-encoding": "gzip, deflate, br",
          "accept-language": "en,*;q=0.5",
        },
      },
      resolve,
    );
    sent.on("error", reject);
    sent.on("socket", (socket) => {
      socket.once("connect", () => {
        // Check the address of the actual connection, whatever was resolved.
        const address = socket.remoteAddress ?? "";
        if (!allow_private && !isPublicAddress(address))
          sent.destroy(new FetchError(notPublic(url.hostname, address)));
      });
    });
    sent.end();
  });
}

/** Resolves a name for a connection to public addresses only. */
function checkedLookup(allow_private: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const usable = allow_private ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
      const first = usable[0];
      if (first === undefined)
        return callback(new FetchError(notPublic(hostname, addresses[0]?.address ?? "?")), "");
      if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

async function readBody(
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; facts: string[] }> {
  const coding = (response.headers["content-encoding"] ?? "").toLowerCase();
  const decoder =
    coding === "gzip" || coding === "x-gzip"
      ? createGunzip()
      : coding === "deflate"
        ? createInflate()
        : coding === "br"
          ? createBrotliDecompress()
          : undefined;
  if (decoder !== undefined) response.on("error", (error) => decoder.destroy(error));
  const stream = decoder === undefined ? response : response.pipe(decoder);
  const abort = (): void => void stream.destroy(new FetchError("Stopped."));
  signal.addEventListener("abort", abort, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The cast is needed because the stream's type does not say that its chunks are bytes.
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const left = SIZE_LIMIT - length;
      chunks.push(chunk.subarray(0, left));
      length += chunk.length;
      if (length > SIZE_LIMIT) {
        return {
          bytes: Buffer.concat(chunks),
          facts: [`[only the first ${SIZE_LIMIT / 1024 ** 2} MB were read]`],
        };
      }
    }
    return { bytes: Buffer.concat(chunks), facts: [] };
  } finally {
    signal.removeEventListener("abort", abort);
    response.destroy();
  }
}

function textOf(
  bytes: Buffer,
  content_type: string,
  url: string,
): { text: string; facts: string[]; isText: boolean } {
  const [type = ""] = content_type.toLowerCase().split(";", 1);
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\s*$/.test(type);
  const isText =
    isHtml ||
    type === "" ||
    /^text\/|[/+](?:json|xml|javascript|ecmascript|yaml|toml)\s*$|x-www-form-urlencoded|x-ndjson/.test(type);
  const isBinary = bytes.subarray(0, 8_000).includes(0);
  if (!isText || isBinary)
    return { text: `[${type || "Its content"} is not text and was not read.]`, facts: [], isText: false };
  const text = decode(bytes, content_type, isHtml);
  if (!isHtml) return { text, facts: [], isText: true };
  const page = htmlToText(text, url);
  return { text: page.text, facts: page.title === "" ? [] : [`Title: ${page.title}`], isText: true };
}

function decode(bytes: Buffer, content_type: string, isHtml: boolean): string {
  const declared =
    /charset\s*=\s*"?([^\s";]+)/i.exec(content_type)?.[1] ??
    (isHtml
      ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,40})/i.exec(bytes.toString("latin1", 0, 2_048))?.[1]
      : undefined);
  try {
    return new TextDecoder(declared ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
