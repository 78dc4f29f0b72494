import * as z from "zod";
import { record } from "../record.ts";
import { type PartFold, withAllParts } from "../transcript/part-fold.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { isError } from "./part-kinds.ts";

/** Kinds of marks in the map of a session. */
export const MARK_KINDS = ["prompt", "edit", "run", "compaction", "error"] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** The marks of a session, by kind: positions of parts, ascending. A call is marked at its own position, not at its result's. */
export const mapMarks = record({
  /** Number of parts, marked or not. */
  part_count: z.number(),
  marks: record({
    prompt: z.array(z.number()),
    edit: z.array(z.number()),
    run: z.array(z.number()),
    compaction: z.array(z.number()),
    error: z.array(z.number()),
  }),
});
export type MapMarks = z.infer<typeof mapMarks>;

/** The marks of the parts that were added. A part may have several marks. */
export class MarkFold implements PartFold<MarkFold> {
  private readonly marks: Record<MarkKind, number[]>;

  constructor(
    marks: Record<MarkKind, number[]> = { prompt: [], edit: [], run: [], compaction: [], error: [] },
  ) {
    this.marks = marks;
  }

  add({ parts }: Pick<Transcript, "parts">, from: number, to: number): void {
    const { marks } = this;
    let index = from - 1;
    for (const part of parts.slice(from, to)) {
      index += 1;
      if (part === undefined) continue;
      if (part.type === "prompt") marks.prompt.push(index);
      if (part.type === "marker" && part.kind === "compaction") marks.compaction.push(index);
      if (isError(part)) marks.error.push(index);
      if (part.type !== "tool_call") continue;
      const result = part.result_index === undefined ? undefined : parts.at(part.result_index);
      if (isEdit(result)) marks.edit.push(index);
      if (part.run !== undefined) marks.run.push(index);
    }
  }

  copy(): MarkFold {
    const { prompt, edit, run, compaction, error } = this.marks;
    return new MarkFold({
      prompt: [...prompt],
      edit: [...edit],
      run: [...run],
      compaction: [...compaction],
      error: [...error],
    });
  }

  map({ parts }: Pick<Transcript, "parts">): MapMarks {
    return { part_count: parts.length, marks: this.marks };
  }
}

/** Marks the parts of a complete transcript. */
export const marksOf = (transcript: Transcript): MapMarks =>
  withAllParts(new MarkFold(), transcript).map(transcript);

/** Whether a result reports changed files. A failed call did not change the files that it names. */
const isEdit = (result: TranscriptPart | undefined): boolean =>
  result?.type === "tool_result" &&
  !result.is_error &&
  result.ui_extra?.type === "diff" &&
  result.ui_extra.files.length > 0;
