import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import type { TruncatedText } from "../ui/use-whole.ts";
import type { TranscriptHost } from "./host.ts";

/** The text of a part at a path as in `truncated`: `thinking`, `state.error`, `parts.0` (the first piece of a prompt). */
export function fieldText(part: TranscriptPart, field: string, { loadWhole }: TranscriptHost): TruncatedText {
  const truncated = part.truncated?.[field];
  return {
    text: textAt(part, field) ?? "",
    ...(truncated === undefined ? {} : { truncated }),
    ...(loadWhole === undefined
      ? {}
      : {
          loadWhole: async () => {
            const whole = textAt(await loadWhole(part.id), field);
            if (whole === undefined) throw new Error(t.part.changed);
            return whole;
          },
        }),
  };
}

function textAt(part: TranscriptPart, field: string): string | undefined {
  let value: unknown = part;
  for (const name of field.split(".")) value = memberOf(value, name);
  // The path of a piece of a prompt refers to the piece, not to its text.
  if (typeof value !== "string") value = memberOf(value, "text");
  return typeof value === "string" ? value : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** A part, loaded first if it is truncated. Rejects if it cannot be loaded. */
export async function wholeOf<Part extends TranscriptPart>(
  part: Part,
  { loadWhole }: TranscriptHost,
): Promise<Part> {
  if (part.truncated === undefined || loadWhole === undefined) return part;
  const whole = await loadWhole(part.id);
  if (!isLike(whole, part)) throw new Error(t.part.changed);
  return whole;
}

const isLike = <Part extends TranscriptPart>(part: TranscriptPart, other: Part): part is Part =>
  part.type === other.type;
