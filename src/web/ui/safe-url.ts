import { t } from "../text/text.ts";
import { isLocalService, secretsIn, type UrlSecrets } from "./url-secrets.ts";

/**
 * How an untrusted address is handled. `link`: opens directly; `confirm`: the host and the full address are shown first;
 * `fragment`: a position in the same document; `text`: not a link.
 */
export type Verdict =
  | { kind: "link"; href: string; host: string }
  | { kind: "confirm"; href: string; host: string; reason: string; secrets?: UrlSecrets }
  | { kind: "fragment"; id: string }
  | { kind: "text" };

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop control bytes from addresses, so they are refused.
  /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;
/** Maximum length of an address, or of a link's text, that a user can be expected to read to its end. */
const MAX_LENGTH = 2_000;
/** Maximum length of a host name (RFC 1035), which is shown beside its link. */
const MAX_HOST_LENGTH = 253;
const KNOWN_ENDING = /[a-z0-9-]\.(?:com|org|net|io|dev|app|ai|gov|edu)(?:[/:?#@.]|$)/i;

/**
 * Decides how to handle an address from Markdown, terminal output or a tool's data. Never throws. Anything other than an absolute
 * http, https or mailto address, or a fragment, is text.
 */
export function judgeUrl(address: string): Verdict {
  if (address.startsWith("#")) return { kind: "fragment", id: address.slice(1) };
  // Markdown percent-encodes the brackets of an IPv6 address.
  let source = address.replace(/^(https?:\/\/)%5B([\da-f:.]+)%5D/i, "$1[$2]");
  let reason = "";
  if (/^\/\/[^/\\]/.test(source)) {
    source = `https:${source}`;
    reason = t.url.noProtocol;
  }
  const scheme = /^([a-z]+):/i.exec(source)?.[1]?.toLowerCase();
  if (scheme === undefined) return { kind: "text" };
  if (scheme === "mailto") {
    if (HIDDEN.test(source) || !URL.canParse(source)) return { kind: "text" };
    const recipient = source.slice(7).split("?")[0] ?? "";
    if (!recipient || recipient.length > MAX_HOST_LENGTH) return { kind: "text" };
    // Some mail programs interpret text after a line break as another header.
    return /\?|%0[ad]/i.test(source)
      ? { kind: "confirm", href: source, host: recipient, reason: t.url.fillsMessage }
      : { kind: "link", href: source, host: recipient };
  }
  if (scheme !== "http" && scheme !== "https") return { kind: "text" };
  let url: URL;
  try {
    url = new URL(source);
  } catch {
    return { kind: "text" };
  }
  if (!url.hostname || url.hostname.length > MAX_HOST_LENGTH) return { kind: "text" };
  const secrets = secretsOf(source, url);
  // `user:password@` is not misleading unless the user name looks like a host, so the milder reason is given.
  if (!reason) reason = localService(url);
  if (!reason && secrets?.kind === "credentials" && !url.username.includes(".")) reason = t.url.credentials;
  if (!reason) reason = suspicion(source, url);
  if (!reason && secrets !== undefined) reason = t.url[secrets.kind];
  const host = url.host;
  if (!reason) return { kind: "link", href: url.href, host };
  return { kind: "confirm", href: url.href, host, reason, ...(secrets && { secrets }) };
}

/** Finds secrets in the address as written and as the browser will open it, because browsers normalize some characters. */
function secretsOf(source: string, url: URL): UrlSecrets | undefined {
  const [written, opened] = [secretsIn(source), secretsIn(url.href)];
  if (written === undefined || opened === undefined) return written ?? opened;
  return { kind: written.kind, secrets: [...new Set([...written.secrets, ...opened.secrets])] };
}

function localService({ hostname }: URL): string {
  switch (isLocalService(hostname)) {
    case "metadata":
      return t.url.metadata;
    case "link-local":
      return t.url.linkLocal;
    case undefined:
      return "";
  }
}

function suspicion(source: string, url: URL): string {
  if (HIDDEN.test(source)) return t.url.invisible;
  if (!/^https?:\/\/[^/\\]/i.test(source) || source.includes("\\")) return t.url.misleading;
  if (url.username || url.password) return t.url.notHost;
  if (/(^|\.)xn--/.test(url.hostname)) return t.url.lookalike;
  if (url.hostname.endsWith(".")) return t.url.dot;
  if (
    KNOWN_ENDING.test(
      `${url.hostname.slice(0, url.hostname.lastIndexOf(".")).split(".").slice(0, -1).join(".")}.`,
    )
  )
    return t.url.beginsLike;
  if (/^\/[^/]*\.(?:com|org|net|io|dev|app|ai)(?:\/|$)/i.test(url.pathname)) return t.url.pathLikeHost;
  if (/(?:https?:|%3a)\/\//i.test(url.search) || /@/.test(url.search + url.hash)) return t.url.redirect;
  if (url.search.length > 80 && /[A-Za-z0-9+/_%=-]{48,}/.test(url.search)) return t.url.muchData;
  if (source.length > MAX_LENGTH) return t.url.long;
  return "";
}

/** An address with a scheme, or a run of characters that occur in names of files, people and hosts. */
const NAME =
  /https?:\/\/(\[[\da-f:.]+\](?::\d+)?|[^\s/?#\\()[\]<>«»"“”',;!]+)|[\p{L}\p{M}\p{N}_.@+%-]+(?::\d+)?/giu;
const HOST_LIKE = /^.+\.\p{L}[^.]*$|^\d+(?:\.\d+){3}$/u;
/**
 * Top-level domains that are rarely endings of other names, unlike those in `main.rs` (a file) or `console.info` (a function).
 */
const CLAIMING =
  /\.(?:com|org|net|io|dev|app|ai|gov|edu|co|eu|de|uk|fr|nl|ch|se|dk|jp|cn|kr|ca|ru|(?:com?|org|net)\.[a-z]{2})$/;

/**
 * Names of products and packages that look like hosts (`asp.net`, `com.example.app`) and are not treated as hosts.
 */
const NO_HOST = /^(?:(?:ASP|ADO|VB|ML)\.NET|(?:System|Socket)\.IO|System\.Net)$/;

/**
 * Compares the text of a link with its host. `same`: the text names the host and nothing else that looks like one; `other`: it
 * names another host; `long`: it is too long to check; `undefined`: none of these.
 */
export function hostText(text: string, host: string): "same" | "other" | "long" | undefined {
  if (text.length > MAX_LENGTH) return "long";
  // Normalize as browsers do: drop invisible characters, and treat all kinds of dots alike.
  const words = text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll("。", ".");
  const real = host.toLowerCase();
  let isNamed = false;
  let isAlone = true;
  NAME.lastIndex = 0;
  for (let found = NAME.exec(words); found !== null; found = NAME.exec(words)) {
    const written = (found[1] ?? found[0]).replace(/^[.+%-]+|[.:+%-]+$/g, "");
    const name = written.toLowerCase();
    if (name === real) {
      isNamed = true;
      const path = /(?:[/?#]\S*)?/y;
      path.lastIndex = NAME.lastIndex;
      path.test(words);
      NAME.lastIndex = path.lastIndex;
    } else if (claims(written, found[1] !== undefined, real)) return "other";
    else if (HOST_LIKE.test(name)) isAlone = false;
  }
  return isNamed && isAlone ? "same" : undefined;
}

function claims(written: string, isAddress: boolean, real: string): boolean {
  const name = written.toLowerCase();
  const bare = (host: string): string => host.replace(/:\d+$/, "").replace(/^www\./, "");
  if (bare(name) === bare(real)) return false;
  if (isAddress) return HOST_LIKE.test(bare(name));
  // In a mail address, only the part before the @ can be misleading, because the host is after it.
  return !NO_HOST.test(written) && CLAIMING.test(bare(name.replace(/@.*/, "")));
}
