import { t } from "../text/text.ts";

/** Finds secrets and risky hosts in URLs. Such a URL needs a confirmation before it opens, and its secrets are masked. */

/** Names of parameters whose values are credentials. */
const SECRET_NAME =
  /^(?:(?:x[-_])?(?:amz|goog)[-_](?:signature|credential|security[-_]token)|.*(?:token|secret|passw(?:or)?d|api[-_]?key|access[-_]?key|private[-_]?key|signature|credentials?)|pwd|auth|authorization|bearer|jwt|sig|sess(?:ion)?[-_]?id|session|otp|sas|ticket)$/i;
/** Names of parameters whose values count as credentials only if they look like it, because the names are often harmless. */
const MAYBE_SECRET_NAME = /^(?:key|code|state|hash|sid|id_hint|invite)$/i;
/** Well-known tokens, by their prefixes, and JSON Web Tokens. */
const KNOWN_TOKEN =
  /^(?:gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk[-_](?:[a-z]+[-_])*[A-Za-z0-9]{16,}[\w-]*|rk_live_\w{16,}|xox[abeoprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,}|pypi-[\w-]{30,}|dop_v1_[a-f0-9]{32,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)$/;

/** Minimum length of a word of mixed digits and letters to count as a secret. */
const MIN_ENCODED_LENGTH = 32;
/** Ids of commits, digests and records, which are harmless in a path. */
const PLAIN_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export type SecretKind = "credentials" | "token" | "encoded";
export interface UrlSecrets {
  /** The most serious kind that was found. */
  kind: SecretKind;
  /** As written in the address, longest first. */
  secrets: readonly string[];
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/(?:([^/?#\\]*)@)?([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;

/** The secrets in an absolute address; `undefined`: there are none. */
export function secretsIn(address: string): UrlSecrets | undefined {
  const [, user, host = "", path = "", query = "", fragment = ""] = ADDRESS.exec(address) ?? [];
  const found = new Map<string, SecretKind>();
  if (user !== undefined && user !== "") {
    const [name = "", ...password] = user.split(":");
    if (password.length > 0) found.set(user, "credentials");
    else if (secretKindOf(name, "value") !== undefined) found.set(name, "credentials");
  }
  for (const label of host.split(".")) note(label, secretKindOf(label, "host"));
  for (const segment of path.split("/"))
    for (const piece of segment.split(/[;,:]/)) note(piece, secretKindOf(piece, "path"));
  noteFields(query);
  // Some providers pass tokens in the fragment, in the form of a query.
  if (/^[?/!]?[^?]*\?|=/.test(fragment)) noteFields(fragment.slice(fragment.indexOf("?") + 1));
  else for (const piece of fragment.split("/")) note(piece, secretKindOf(piece, "path"));

  function note(text: string, kind: SecretKind | undefined): void {
    if (kind !== undefined && !found.has(text)) found.set(text, kind);
  }
  function noteFields(fields: string): void {
    for (const field of fields.split(/[&;]/)) {
      const at = field.indexOf("=");
      const [name, value] = at < 0 ? ["", field] : [field.slice(0, at), field.slice(at + 1)];
      const plain = decode(name);
      const valueKind = secretKindOf(value, "value");
      if (value.length >= 6 && SECRET_NAME.test(plain)) note(value, "token");
      else if (value.length >= 16 && MAYBE_SECRET_NAME.test(plain) && isMixed(value)) note(value, "token");
      else note(value, valueKind);
      // Data may also be in the names of parameters.
      if (at >= 0) note(name, secretKindOf(name, "value"));
    }
  }

  if (found.size === 0) return undefined;
  const kinds = [...found.values()];
  const kind = (["credentials", "token", "encoded"] as const).find((one) => kinds.includes(one)) ?? "encoded";
  return { kind, secrets: [...found.keys()].sort((one, other) => other.length - one.length) };
}

/** Masks secrets in the address, or in a text that repeats it: `ghp_…(40 characters)`. */
export function maskSecrets(text: string, { secrets }: UrlSecrets): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, maskOf(secret));
  return masked;
}

function maskOf(secret: string): string {
  // The prefix of a token identifies its issuer and is not secret.
  const issuer = /^(?:gh[opsur]_|github_pat_|glpat-|sk[-_]|xox[abeoprs]-|AKIA|ASIA|AIza|npm_|hf_)/.exec(
    secret,
  )?.[0];
  return `${issuer ?? ""}•••${t.url.secret(secret.length)}`;
}

/** Classifies a piece of an address; `undefined`: it is harmless. */
function secretKindOf(piece: string, place: "host" | "path" | "value"): SecretKind | undefined {
  if (piece.length < 16) return undefined;
  const text = decode(piece);
  if (KNOWN_TOKEN.test(text)) return "token";
  if (text.length < MIN_ENCODED_LENGTH || UUID.test(text)) return undefined;
  if (place === "path" && PLAIN_ID.test(text)) return undefined;
  return isEncoded(text, place) ? "encoded" : undefined;
}

/** Whether a text is encoded data (base64, base32, hex) rather than words. */
function isEncoded(text: string, place: "host" | "path" | "value"): boolean {
  // So many percent-encoded bytes are not text.
  if ((text.match(/%[0-9a-f]{2}/gi)?.length ?? 0) >= 12) return true;
  for (const run of text.match(/[A-Za-z0-9+/_=-]{32,}/g) ?? []) {
    // Hyphens and underscores separate words; in encoded data they are at random positions.
    const words = run.split(/[-_]/);
    const longest = words.reduce((most, word) => Math.max(most, word.length), 0);
    const isData = words.filter((word) => isMixed(word)).join("").length >= run.length / 2;
    if (longest < 20 && !isData) continue;
    if (/^(?=.*\d)[0-9a-f]+$/i.test(run)) return place !== "path" || run.length > 64;
    if (isData || (place !== "path" && longest >= MIN_ENCODED_LENGTH && isMixed(run))) return true;
  }
  return false;
}

/** Whether a word mixes digits and letters, or changes case more often than a name does. */
function isMixed(word: string): boolean {
  if (/\d/.test(word) && /[A-Za-z]/.test(word)) return word.length >= 6;
  const changes = word.match(/[a-z](?=[A-Z])|[A-Z]{2}(?=[a-z])/g)?.length ?? 0;
  return word.length >= 16 && changes >= word.length / 4;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Host names and addresses of cloud metadata services, which return a machine's own credentials. */
const METADATA_HOSTS = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.azure.com",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "metadata.packet.net",
  "instance-data",
  "instance-data.ec2.internal",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "[fd00:ec2::254]",
  "[fd00:ec2::253]",
  "[fd00:ec2::123]",
  "[fd20:ce::254]",
]);

/**
 * Whether a host, normalized as in `URL.hostname`, is a cloud metadata service or a link-local address.
 */
export function isLocalService(hostname: string): "metadata" | "link-local" | undefined {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  if (METADATA_HOSTS.has(host)) return "metadata";
  const v4 = embeddedV4(host) ?? host;
  if (METADATA_HOSTS.has(v4) || v4 === "169.254.169.254" || v4 === "169.254.170.2") return "metadata";
  if (/^169\.254\.\d+\.\d+$/.test(v4) || /^\[fe[89ab][0-9a-f]:/.test(host)) return "link-local";
  // Public DNS services resolve these names to the address that they contain.
  const named = /(?:^|[.-])(169[.-]254[.-]\d{1,3}[.-]\d{1,3})(?:[.-]|$)|(?:^|\.)(a9fe[0-9a-f]{4})\./.exec(
    host,
  );
  return named === null ? undefined : "link-local";
}

/** The IPv4 address inside an IPv6 one: mapped (`::ffff:a9fe:a9fe`), translated (`64:ff9b::`), or compatible (`::`). */
function embeddedV4(host: string): string | undefined {
  const [, high, low] =
    /^\[(?:::ffff:(?:0:)?|64:ff9b::|::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [one, other] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [one >> 8, one & 255, other >> 8, other & 255].join(".");
}
