import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { MediaPart, Part } from "../../model/part.ts";
import type { Request } from "../../model/request.ts";
import type { TranscriptPart, Turn } from "../../model/transcript.ts";
import { terminalText } from "../ui/ansi.ts";
import { oneLine } from "./tool-cards/card.ts";

/** What a turn is called that no prompt names. */
export function untitled({ index }: Turn): string {
  return index === 0 ? "Before the first prompt" : "Turn without a prompt";
}

/** What the gutter calls a part. */
export function kindOf(part: TranscriptPart): string {
  switch (part.type) {
    case "thinking":
      return "thinking";
    case "text":
      return "text";
    case "tool_call":
      return "tool";
    case "tool_result":
      return "result";
    case "image":
      return "image";
    case "file":
      return "file";
    case "prompt":
      return part.origin === undefined ? "prompt" : part.origin === "notification" ? "notice" : part.origin;
    case "step_start":
    case "step_finish":
      return "step";
    case "marker":
      return part.kind === "model_switch" ? "model" : part.kind === "notification" ? "notice" : part.kind;
    case "request":
      return part.request.kind;
    case "unknown":
      return "unknown";
    case "legacy":
      return part.role;
    default:
      return part satisfies never;
  }
}

/** A part's own text, nothing of the page's. */
export function textOf(part: TranscriptPart): string {
  switch (part.type) {
    case "thinking":
      return part.thinking;
    case "text":
      return part.text;
    case "tool_call":
      return `${part.tool_name} ${part.arguments_json}`;
    case "tool_result":
      return terminalText(part.output_text);
    case "image":
    case "file":
      return mediaAddress(part.media);
    case "prompt":
      return promptText(part.parts);
    case "step_start":
      return part.model ?? "";
    case "step_finish":
      return part.reason ?? "";
    case "marker":
      return part.text === undefined ? part.title : `${part.title}\n\n${part.text}`;
    case "request":
      return part.request.subject ?? part.request.title;
    case "unknown":
      return typeof part.raw === "string" ? part.raw : (JSON.stringify(part.raw, null, 2) ?? "");
    case "legacy":
      return part.thinking === undefined ? part.content : `${part.thinking}\n\n${part.content}`;
    default:
      return part satisfies never;
  }
}

/** The typed words of a prompt, without what was attached to it. */
export function promptText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

function mediaAddress(media: MediaPart): string {
  switch (media.type) {
    case "image_url":
      return media.url;
    case "image_file":
      return media.file_path;
    case "file":
      return media.filename ?? media.url;
    case "unknown":
      return JSON.stringify(media.raw) ?? "";
    default:
      return media satisfies never;
  }
}

/** Whether the tool has to be said beside the title. */
export function namesTool({ tool_name, title }: Request): boolean {
  return tool_name !== undefined && !title.includes(tool_name);
}

/** What is asked, for who does not see it: of several that wait, one hears which one the keyboard is in. */
export function nameOfRequest(request: Request): string {
  const { kind, tool_name = "", title } = request;
  const tool = namesTool(request) ? `${visibleText(tool_name, "name")} ` : "";
  return `${kind === "approval" ? "Approval" : "Question"}: ${tool}${visibleText(oneLine(title, 120), "prose")}`;
}
