import { callTool } from "../../model/parts/call-subject.ts";
import { callHead, firstLine, outputText, resultBadge } from "../../model/parts/plain-text.ts";
import { fullToolLabel } from "../../model/parts/tool-label.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { safe, TERMINAL, textOf } from "./terminal-text.ts";

/** Prints a growing transcript part by part, in order. Printed text is never changed. */
interface Printer {
  print(transcript: Transcript): Promise<void>;
}

const THOUGHT = "thinking │ ";

export function createPrinter(write: (text: string) => Promise<void>): Printer {
  /** The first part that is not completely printed, and the length of its printed text. */
  let next = 0;
  let printed = 0;
  return {
    async print(transcript) {
      for (; next < transcript.parts.length; next += 1) {
        const part = transcript.parts.at(next);
        if (part?.type === "text" || part?.type === "thinking") {
          const text = part.type === "text" ? part.text : part.thinking;
          const prefix = part.type === "thinking" ? THOUGHT : "";
          const fresh = text.slice(printed);
          const lead = printed === 0 && fresh !== "" ? `\n${prefix}` : "";
          if (fresh !== "") await write(safe(`${lead}${fresh.replaceAll("\n", `\n${prefix}`)}`));
          printed = text.length;
          if (part.open === true) return;
          if (printed > 0) await write("\n");
          printed = 0;
          continue;
        }
        if (part?.type === "tool_call" && part.state.status === "pending") return;
        const text = part && textOfPart(part, transcript);
        if (text !== undefined) await write(`\n${safe(text)}\n`);
      }
    },
  };
}

/** The text of a part. A call is printed when it starts and its result when it arrives, with other parts in between. */
function textOfPart(part: TranscriptPart, transcript: Transcript): string | undefined {
  if (part.type === "tool_call") return callHead(part, "running", TERMINAL);
  if (part.type === "tool_result") {
    const call = part.call_index === undefined ? undefined : transcript.parts.at(part.call_index);
    const tool = call?.type === "tool_call" ? callTool(call) : part.tool_name;
    const name = tool === undefined ? part.tool_call_id : fullToolLabel(tool);
    const output = outputText(part, TERMINAL);
    return `${resultBadge(part)} ${firstLine(name, TERMINAL)}${output === "" ? "" : `\n${output}`}`;
  }
  return textOf(part, transcript);
}
