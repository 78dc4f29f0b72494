import { partDigest, sequenceDigest } from "../../../../model/compare/digest.ts";
import { comparedText, describeDifference, type PartDifference } from "../../../../model/compare/verify.ts";
import type { TranscriptPart } from "../../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../../model/transcript/transcript-state.ts";
import { truncatePart } from "../../../../model/truncate/truncate.ts";
import { MAX_VERIFIED_PARTS, type PageParts, type VerifyReply } from "../../../../protocol.ts";
import type { Api } from "../../../api/api.ts";
import type { ApiResult } from "../../../api/requests.ts";
import type { OpenSession } from "../../../app/open-session.ts";

/** Maximum number of attempts if the page is behind the daemon. */
const MAX_ATTEMPTS = 3;

/** The results of the comparison for the daemon's parts and for this page's parts. */
export interface PageVerification {
  reply: VerifyReply;
  /** Absent: the browser cannot compute digests on this page, or no parts are loaded. */
  page?: {
    /** Number of parts that this page has loaded. */
    loaded: number;
    all: number;
    digest: string;
    expected: string;
    difference?: PartDifference;
  };
}

/** Has the daemon read the record again and compare it with its own parts and with this page's parts. */
export async function verifyWithPage(
  api: Pick<Api, "verify">,
  session: OpenSession,
  signal: AbortSignal,
): Promise<ApiResult<PageVerification>> {
  for (let attempt = 1; ; attempt += 1) {
    const { transcript } = session.state.getState();
    const { epoch, seq } = session.position() ?? {};
    const digests = transcript && (await digestsOf(transcript));
    const parts: PageParts | undefined =
      digests === undefined || epoch === undefined || seq === undefined
        ? undefined
        : { epoch, seq, parts: digests };
    const reply = await api.verify(session.id, parts === undefined ? {} : { page: parts }, signal);
    if (!reply.ok) return reply;
    const { page } = reply.value;
    if (transcript === undefined || digests === undefined || page === undefined)
      return { ok: true, value: { reply: reply.value } };
    const differs = page.difference !== undefined;
    // The difference may come from parts that arrived during the comparison: try again.
    if (differs && page.behind !== 0 && attempt < MAX_ATTEMPTS && !signal.aborted) continue;
    const difference = page.difference && describe(page.difference, transcript);
    return {
      ok: true,
      value: {
        reply: reply.value,
        page: {
          loaded: page.compared,
          all: transcript.parts.length,
          digest: await sequenceDigest(digests.flatMap(({ digests }) => digests)),
          expected: page.digest,
          ...(difference && { difference }),
        },
      },
    };
  }
}

/** The digests of the loaded parts or, if there are too many, of the last ones. */
async function digestsOf({ parts }: Transcript): Promise<PageParts["parts"] | undefined> {
  // Browsers provide `crypto.subtle` only on HTTPS and localhost.
  if (!("subtle" in crypto)) return undefined;
  const loaded: [index: number, part: TranscriptPart][] = [];
  for (let index = parts.length - 1; index >= 0 && loaded.length < MAX_VERIFIED_PARTS; index -= 1) {
    const part = parts.at(index);
    if (part !== undefined) loaded.push([index, part]);
  }
  const ranges: { from: number; digests: string[] }[] = [];
  for (const [index, part] of loaded.reverse()) {
    // Truncate: a part that was received live may be longer here than in the daemon's truncated form.
    const last = ranges.at(-1);
    const digest = await partDigest(truncatePart(part));
    if (last !== undefined && last.from + last.digests.length === index) last.digests.push(digest);
    else ranges.push({ from: index, digests: [digest] });
  }
  return ranges.length === 0 ? undefined : ranges;
}

function describe(
  { index, part_id, reread, place }: NonNullable<NonNullable<VerifyReply["page"]>["difference"]>,
  { parts }: Transcript,
): PartDifference {
  const own = parts.at(index);
  const id = own?.id ?? part_id ?? "";
  const text = own && comparedText(truncatePart(own));
  return { ...describeDifference(index, { id }, text, reread), ...(place !== undefined && { place }) };
}
