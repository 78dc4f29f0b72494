import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { partDigest, sequenceDigest } from "../../model/compare/digest.ts";
import { comparedText, describeDifference, type PartDifference } from "../../model/compare/verify.ts";
import type { Frame } from "../../model/frames/frame.ts";
import { accumulate, unpairedOf } from "../../model/transcript/accumulate.ts";
import { sourceText } from "../../model/transcript/source-text.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { withoutPartsBefore } from "../../model/transcript/transcript-start.ts";
import { emptyTranscript } from "../../model/transcript/transcript-state.ts";
import { truncatePart } from "../../model/truncate/truncate.ts";
import type { PageParts, VerifyReply } from "../../protocol.ts";
import { loadParts, loadPieces } from "./load-parts.ts";
import type { OpenSession } from "./sessions.ts";

/** Time after which the event loop gets a turn, in milliseconds. */
const SLICE_MS = 8;

/**
 * Number of batches of frames, each from 1 MB of a file, whose parts stay in memory while the record of a large session is read,
 * because later records may still change them.
 */
const KEPT_BATCHES = 12;
/** Number of batches whose parts are compared and dropped at a time. */
const DROPPED_BATCHES = 4;

interface ComparedSession {
  open: OpenSession;
  /** The session's record, read again from its beginning. */
  frames: AsyncIterable<readonly Frame[]>;
  page?: PageParts | undefined;
  /** The comparison rejects with the signal's reason when its client has gone. */
  signal?: AbortSignal;
}

/**
 * Compares the shown parts of a session, and those of a page, with the session's record. If the session does not fit in memory, its
 * parts are compared and dropped while the record is read, except calls without a result: these stay until it arrives.
 */
export async function compareWithRecord({
  open,
  frames,
  page,
  signal,
}: ComparedSession): Promise<VerifyReply> {
  const comparison = createComparison(page);
  const pause = createPauses(signal);
  let reread = emptyTranscript(open.id);
  /** All parts before this position are compared, except the `waiting` calls. */
  let compared = 0;
  let waiting: readonly number[] = [];

  async function compareWaiting(isWaiting: (index: number) => boolean): Promise<void> {
    for (const index of waiting) {
      if (isWaiting(index)) continue;
      const { parts } = await loadParts(open, index, index + 1);
      await comparison.add(index, parts.at(index), reread.parts.at(index));
    }
  }

  /** Compares the parts before a position, and drops them. */
  async function compareUpTo(end: number): Promise<void> {
    const unanswered = new Set(unpairedOf(reread).open_calls.map(([, index]) => index));
    await compareWaiting((index) => unanswered.has(index));
    for await (const { transcript, from, to } of loadPieces(open, compared, end))
      for (let index = from; index < to; index += 1) {
        if (!unanswered.has(index))
          await comparison.add(index, transcript.parts.at(index), reread.parts.at(index));
        await pause();
      }
    compared = end;
    waiting = [...unanswered].filter((index) => index < end);
    reread = withoutPartsBefore(reread, end, waiting);
  }

  const ends: number[] = [];
  for await (const batch of frames) {
    signal?.throwIfAborted();
    for (const frame of batch) {
      reread = accumulate(reread, frame);
      await pause();
    }
    ends.push(reread.parts.length);
    if (open.transcript.unloaded === undefined || ends.length < KEPT_BATCHES + DROPPED_BATCHES) continue;
    const [settled] = ends.splice(0, DROPPED_BATCHES).slice(-1);
    if (settled !== undefined) await compareUpTo(settled);
  }
  // Taken after reading, so records that were written in the meantime are in both.
  const shown = open.transcript;
  const first_loaded = Math.min(shown.unloaded ?? 0, reread.parts.length);
  if (first_loaded > compared) await compareUpTo(first_loaded);
  await compareWaiting(() => false);
  const length = Math.max(shown.parts.length, reread.parts.length);
  for (let index = compared; index < length; index += 1) {
    await comparison.add(index, shown.parts.at(index), reread.parts.at(index));
    await pause();
  }
  return await comparison.reply(open, { shown: shown.parts.length, reread: reread.parts.length });
}

/** Collects what differs between the parts of the daemon, the record and a page. Each position is added once, in any order. */
function createComparison(page: PageParts | undefined) {
  const hashes = { shown: createHash("sha256"), reread: createHash("sha256") };
  let difference: PartDifference | undefined;
  /** The digests of a page's parts, and those of the same parts in the record, as they are sent to pages. */
  const on_page = new Map(
    page?.parts.flatMap(({ from, digests }) => digests.map((digest, at) => [from + at, digest] as const)),
  );
  const expected = new Map<number, string>();
  let page_difference: NonNullable<VerifyReply["page"]>["difference"];

  async function addToPage(index: number, reread: TranscriptPart): Promise<void> {
    const sent = truncatePart(reread);
    const digest = await partDigest(sent);
    expected.set(index, digest);
    if (digest === on_page.get(index) || (page_difference && page_difference.index < index)) return;
    page_difference = {
      index,
      part_id: sent.id,
      reread: comparedText(sent),
      ...(sent.source && { place: sourceText(sent.source) }),
    };
  }

  return {
    /** Absent parts: the side lacks the position. */
    async add(index: number, shown?: TranscriptPart, recorded?: TranscriptPart): Promise<void> {
      const reread = recorded && endedAs(recorded, shown);
      const texts = { shown: shown && comparedText(shown), reread: reread && comparedText(reread) };
      if (texts.shown !== undefined) hashes.shown.update(`${texts.shown}\n`);
      if (texts.reread !== undefined) hashes.reread.update(`${texts.reread}\n`);
      const part = shown ?? reread;
      if (part && texts.shown !== texts.reread && (difference === undefined || index < difference.index))
        difference = describeDifference(index, part, texts.shown, texts.reread);
      if (reread && on_page.has(index)) await addToPage(index, reread);
    },
    async reply(
      { epoch, seq }: OpenSession,
      counts: Pick<VerifyReply, "shown" | "reread">,
    ): Promise<VerifyReply> {
      const missing = [...on_page.keys()].find((index) => !expected.has(index));
      if (missing !== undefined && !(page_difference && page_difference.index < missing))
        page_difference = { index: missing };
      return {
        ...counts,
        ...(difference && { difference }),
        digest_shown: hashes.shown.digest("hex"),
        digest_reread: hashes.reread.digest("hex"),
        ...(page && {
          page: {
            compared: on_page.size,
            digest: await sequenceDigest([...on_page.keys()].map((index) => expected.get(index) ?? "")),
            ...(page.epoch === epoch && { behind: seq - page.seq }),
            ...(page_difference && { difference: page_difference }),
          },
        }),
      };
    },
  };
}

/** A recorded part that still grows, ended as the daemon has ended the shown one: no record says that nothing more follows. */
function endedAs(part: TranscriptPart, shown: TranscriptPart | undefined): TranscriptPart {
  if (!isTextual(part) || part.open !== true) return part;
  if (shown === undefined || !isTextual(shown) || shown.open === true) return part;
  const { open: _, ...ended } = part;
  return { ...ended, ...(shown.ended_at !== undefined && { ended_at: shown.ended_at }) };
}

const isTextual = (part: TranscriptPart): part is TranscriptPartOf<"text"> | TranscriptPartOf<"thinking"> =>
  part.type === "text" || part.type === "thinking";

/** Lets other work run when a slice of time is used up. */
function createPauses(signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    signal?.throwIfAborted();
    await setImmediate();
    since = performance.now();
  };
}
