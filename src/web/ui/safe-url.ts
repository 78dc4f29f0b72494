/**
 * What may be done with an address that somebody else wrote. `link`: open it; `confirm`: show host and full address
 * first; `fragment`: a place in the same document; `text`: not a link at all.
 */
export type Verdict =
  | { kind: "link"; href: string; host: string }
  | { kind: "confirm"; href: string; host: string; reason: string }
  | { kind: "fragment"; id: string }
  | { kind: "text" };

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop control bytes from addresses, so they are refused.
  /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u180e\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff]/;
const KNOWN_ENDING = /[a-z0-9-]\.(?:com|org|net|io|dev|app|ai|gov|edu)(?:[/:?#@.]|$)/i;

/**
 * Judges an address from Markdown, terminal output or a tool's data. Never throws; anything that is not plainly an
 * absolute http, https or mailto address is text.
 */
export function judgeUrl(address: string): Verdict {
  if (address.startsWith("#")) return { kind: "fragment", id: address.slice(1) };
  // Markdown writes the brackets of an IPv6 address as bytes.
  let source = address.replace(/^(https?:\/\/)%5B([\da-f:.]+)%5D/i, "$1[$2]");
  let reason = "";
  if (/^\/\/[^/\\]/.test(source)) {
    source = `https:${source}`;
    reason = "the address names no protocol";
  }
  const scheme = /^([a-z]+):/i.exec(source)?.[1]?.toLowerCase();
  if (scheme === undefined) return { kind: "text" };
  if (scheme === "mailto") {
    if (HIDDEN.test(source) || !URL.canParse(source)) return { kind: "text" };
    const recipient = source.slice(7).split("?")[0] ?? "";
    if (!recipient) return { kind: "text" };
    return source.includes("?")
      ? { kind: "confirm", href: source, host: recipient, reason: "it fills in the message" }
      : { kind: "link", href: source, host: recipient };
  }
  if (scheme !== "http" && scheme !== "https") return { kind: "text" };
  let url: URL;
  try {
    url = new URL(source);
  } catch {
    return { kind: "text" };
  }
  if (!url.hostname) return { kind: "text" };
  if (!reason) reason = suspicion(source, url);
  const host = url.host;
  return reason ? { kind: "confirm", href: url.href, host, reason } : { kind: "link", href: url.href, host };
}

function suspicion(source: string, url: URL): string {
  if (HIDDEN.test(source)) return "the address holds invisible characters";
  if (!/^https?:\/\/[^/\\]/i.test(source) || source.includes("\\"))
    return "the address is written to mislead";
  if (url.username || url.password) return "what stands before @ is not the host";
  if (/(^|\.)xn--/.test(url.hostname)) return "the host has letters that may imitate others";
  if (url.hostname.endsWith(".")) return "the host ends in a dot";
  if (
    KNOWN_ENDING.test(
      `${url.hostname.slice(0, url.hostname.lastIndexOf(".")).split(".").slice(0, -1).join(".")}.`,
    )
  )
    return "the host begins like another one";
  if (/^\/[^/]*\.(?:com|org|net|io|dev|app|ai)(?:\/|$)/i.test(url.pathname))
    return "the path looks like a host";
  if (/(?:https?:|%3a)\/\//i.test(url.search) || /@/.test(url.search + url.hash))
    return "it hands on another address";
  if (url.search.length > 80 && /[A-Za-z0-9+/_%=-]{48,}/.test(url.search)) return "it carries much data";
  return "";
}

/** Whether the words of a link claim another host than the one it leads to. */
export function claimsOtherHost(text: string, host: string): boolean {
  const claimed = /(?:^|\s|\/\/)((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[/:?#\s]|$)/i
    .exec(text.trim())?.[1]
    ?.toLowerCase();
  if (claimed === undefined) return false;
  const real = host.toLowerCase().replace(/:\d+$/, "");
  return (
    claimed.replace(/^www\./, "") !== real.replace(/^www\./, "") &&
    /https?:\/\/|^[a-z0-9.-]+\.(?:com|org|net|io|dev|app|ai|gov|edu)\b/i.test(text.trim())
  );
}
