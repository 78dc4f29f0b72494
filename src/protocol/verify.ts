import * as z from "zod";
import type { Verification } from "../model/compare/verify.ts";
import { optional, record } from "../model/record.ts";

/** Maximum number of parts of a page that are compared in one request. */
export const MAX_VERIFIED_PARTS = 20_000;
const pageParts = record({
  /** The page's position in the session's channel. */
  epoch: z.string(),
  seq: z.number(),
  /** The digests (`partDigest`) of its parts, in ranges without gaps. */
  parts: z.array(record({ from: z.int().nonnegative(), digests: z.array(z.string().max(64)) })),
});

/** What a page has of a session. */
export type PageParts = z.infer<typeof pageParts>;

/** `POST /api/sessions/:id/verify`: `VerifyReply` */
export const verifyBody = record({
  page: optional(
    // Pure, so that the page, which needs no schemas, is built without them.
    /* @__PURE__ */ pageParts.refine(
      ({ parts }) => parts.reduce((sum, { digests }) => sum + digests.length, 0) <= MAX_VERIFIED_PARTS,
      `at most ${MAX_VERIFIED_PARTS} parts can be compared`,
    ),
  ),
});

/** The result of reading a session again. The digests are SHA-256 of the parts, in hex. */
export interface VerifyReply extends Verification {
  digest_shown: string;
  digest_reread: string;
  /** The comparison of the page's parts with the record. Absent: the request had none. */
  page?: {
    compared: number;
    /** Digest of the same parts in the record, as they are sent to pages (`sequenceDigest`). */
    digest: string;
    /** Number of frames that the page did not have yet. Absent: its epoch has ended. */
    behind?: number;
    /** The first part that differs. `reread`: the complete part as text (`comparedText`). Absent: all are equal. */
    difference?: { index: number; part_id?: string; reread?: string; place?: string };
  };
}
