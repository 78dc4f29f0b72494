import { MAX_IMAGES } from "../../protocol.ts";
import type { Api } from "../api/api.ts";
import type { ApiResult } from "../api/requests.ts";
import { t } from "../text/text.ts";
import { promptText } from "../transcript/describe-part.ts";
import { readImages } from "./images.ts";

/** An earlier prompt, to be used as a draft. */
export interface PastPrompt {
  readonly text: string;
  /** Data URLs. */
  readonly images: readonly string[];
  /** Number of attachments. */
  readonly attached: number;
  /** Number of attachments that could not be added to the draft. */
  readonly lost: number;
}

/** Loads a whole prompt: the transcript has only the beginning of a long one, and the names of its images. */
export async function pastPrompt(
  api: Pick<Api, "whole" | "attachment">,
  session_id: string,
  part_id: string,
  takesImages: boolean,
): Promise<ApiResult<PastPrompt>> {
  const reply = await api.whole(session_id, part_id);
  if (!reply.ok) return reply;
  const { part } = reply.value;
  if (part.type !== "prompt")
    return { ok: false, failure: { code: "refused", status: 200, message: t.composer.noPrompt } };
  const { parts } = part;
  const attached = parts.filter(({ type }) => type !== "text").length;
  const media = parts.filter(
    (piece) => piece.type === "image_url" || piece.type === "image_file" || piece.type === "file",
  );
  const files = await Promise.all(
    // Not filtered before, because the daemon counts all of them.
    media.map((piece, n) =>
      takesImages && (piece.type !== "file" || piece.mime.startsWith("image/"))
        ? pictureOf(api, session_id, part_id, n)
        : undefined,
    ),
  );
  const { images } = await readImages(
    files.filter((file) => file !== undefined),
    MAX_IMAGES,
  );
  return {
    ok: true,
    value: { text: promptText(parts), images, attached, lost: attached - images.length },
  };
}

/** Loads an attachment as a file, with the MIME type that the daemon reports. `undefined`: it could not be loaded. */
async function pictureOf(
  api: Pick<Api, "attachment">,
  session_id: string,
  part_id: string,
  n: number,
): Promise<File | undefined> {
  const reply = await api.attachment(session_id, part_id, n);
  if (!reply.ok) return undefined;
  const { type } = reply.value;
  try {
    return new File([await reply.value.arrayBuffer()], "", { type });
  } catch {
    // The caller counts the attachment as lost.
    return undefined;
  }
}
