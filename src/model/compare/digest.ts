import type { TranscriptPart } from "../transcript/transcript.ts";
import { comparedText } from "./verify.ts";

/** Hex digits of a part's digest: half of SHA-256 is enough, and thousands of them are sent. */
const PART_DIGITS = 32;

/** Digests of parts on the page and in the daemon. Needs `crypto.subtle`, which browsers have on HTTPS and loopback only. */
export async function partDigest(part: TranscriptPart): Promise<string> {
  return (await sha256(comparedText(part))).slice(0, PART_DIGITS);
}

/** The digest of a sequence of parts, from their digests in order: SHA-256 in hex. */
export const sequenceDigest = (digests: readonly string[]): Promise<string> => sha256(digests.join("\n"));

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
