import type { TranscriptPart } from "../../model/transcript.ts";
import type { TranscriptHost } from "./host.ts";

/** A text as it came here, perhaps cut on its way. */
export interface FieldText {
  readonly text: string;
  /** Its true length where it was cut. */
  readonly truncated?: number;
  /** Absent where nobody has the whole. */
  readonly loadWhole?: () => Promise<string>;
}

/** A text of a part by the path that `truncated` gives it: `thinking`, `state.error`, `parts.0` for a prompt's first piece. */
export function fieldText(part: TranscriptPart, field: string, { loadWhole }: TranscriptHost): FieldText {
  const truncated = part.truncated?.[field];
  return {
    text: textAt(part, field) ?? "",
    ...(truncated === undefined ? {} : { truncated }),
    ...(loadWhole === undefined
      ? {}
      : {
          loadWhole: async () => {
            const whole = textAt(await loadWhole(part.id), field);
            if (whole === undefined) throw new Error("another part stands here by now.");
            return whole;
          },
        }),
  };
}

function textAt(part: TranscriptPart, field: string): string | undefined {
  let value: unknown = part;
  for (const name of field.split(".")) value = memberOf(value, name);
  // A piece of a prompt is named as a whole.
  if (typeof value !== "string") value = memberOf(value, "text");
  return typeof value === "string" ? value : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
