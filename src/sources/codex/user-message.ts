import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { audioPart, encrypted, isAudio } from "./content-items.ts";
import { imageUrl } from "./output.ts";

/** The content of a message of role `user`, from any of the three logs. */
export interface UserContent {
  /** Its text, without the tags around images. */
  text: string;
  parts: Part[];
}

/** Reads `content` of a response item or a `UserMessage` item. */
export function readUserContent(content: unknown): UserContent {
  const parts: Part[] = [];
  if (typeof content === "string") parts.push({ type: "text", text: content });
  for (const entry of asArray(content)) {
    const item = asObject(entry);
    const text = asString(item?.text);
    const url = item === undefined ? undefined : imageUrl(item);
    const path = asString(item?.path);
    if (item === undefined) parts.push({ type: "unknown", raw: entry });
    else if (text !== undefined) {
      // An image is enclosed in two tags with its name, which the person did not type.
      if (!/^\s*<\/?image\b[^>]*>\s*$/.test(text)) parts.push({ type: "text", text });
    } else if (url !== undefined) parts.push({ type: "image_url", url });
    else if (item.type === "local_image" && path !== undefined) {
      parts.push({ type: "image_file", file_path: path });
    } else if (item.type === "skill" || item.type === "mention") {
      parts.push({ type: "text", text: `$${asString(item.name) ?? path ?? ""}` });
    } else if (isAudio(item)) parts.push(audioPart(item));
    else if (item.type === "encrypted_content") parts.push({ type: "text", text: encrypted(item) });
    else if (item.image_url !== null) parts.push({ type: "unknown", raw: entry });
  }
  return { text: textOf(parts), parts };
}

/** Reads an `event_msg` of type `user_message`. */
export function readUserEvent(payload: JsonObject): UserContent {
  const parts: Part[] = [];
  const message = asString(payload.message);
  if (message !== undefined && message !== "") parts.push({ type: "text", text: message });
  for (const image of asArray(payload.images)) {
    if (typeof image === "string") parts.push({ type: "image_url", url: image });
  }
  for (const image of asArray(payload.local_images)) {
    const path = asString(image) ?? asString(asObject(image)?.path);
    if (path !== undefined) parts.push({ type: "image_file", file_path: path });
  }
  return { text: textOf(parts), parts };
}

function textOf(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) {
    if (part.type === "text") text += (text === "" ? "" : "\n") + part.text;
  }
  return text;
}

/**
 * Whether two logs contain the same prompt. One may lack parts of the other, such as a file's context or a trailing newline.
 */
export function isSamePrompt(one: string, other: string): boolean {
  const left = one.trim();
  const right = other.trim();
  if (left === right) return true;
  return left !== "" && right !== "" && (left.includes(right) || right.includes(left));
}

/** Text that Codex injects under the user's role, by its start, with the code of a title. */
const INJECTED = [
  [/^# AGENTS\.md instructions/, "agents_md"],
  [/^<environment_context\b/, "environment"],
  [/^<user_instructions\b/, "user_instructions"],
  [/^<INSTRUCTIONS\b/, "codex_instructions"],
  [/^<permissions instructions\b/, "permissions"],
  [/^<collaboration_mode\b/, "collaboration_mode"],
  [/^<recommended_plugins\b/, "recommended_plugins"],
  [/^<skill\b/, "codex_skill"],
  [/^<user_shell_command\b/, "user_shell_command"],
  [/^<codex_internal_context\b/, "codex_context"],
  [/^<subagent_notification\b/, "sub_agent"],
  [/^<turn_aborted\b/, "codex_interrupted"],
  [/^<user_action\b/, "user_action"],
  [/^<hook_prompt\b/, "codex_hook"],
  [
    /^<(?:skills|plugins|apps|tools|multi_agent\w*|realtime\w*|token_budget|personality\w*)(?:_instructions)?[ >]/,
    "codex_instructions",
  ],
] as const satisfies readonly (readonly [RegExp, string])[];

/** The title of injected text; `undefined`: it does not look injected. */
export function injectedTitle(content: UserContent): CodedText | undefined {
  const titles: CodedText[] = [];
  for (const part of content.parts) {
    if (part.type !== "text") continue;
    const title = titleOf(part.text);
    if (title === undefined) {
      if (titles.length === 0) return undefined;
    } else if (!titles.some(({ text }) => text === title.text)) titles.push(title);
  }
  if (titles.length < 2) return titles[0];
  const list = titles.map(({ code, params = {} }) =>
    [code, ...Object.values(params)].join(" ").replaceAll("\n", " "),
  );
  const text = titles.map((title) => title.text).join(", ");
  return { ...codexTitle("injected_texts", { titles: list.join("\n") }), text };
}

function titleOf(text: string): CodedText | undefined {
  const start = text.trimStart().slice(0, 60);
  const code = INJECTED.find(([pattern]) => pattern.test(start))?.[1];
  switch (code) {
    case undefined:
      return undefined;
    case "codex_skill":
      return codexTitle(code, { name: /<name>([^<]+)<\/name>/.exec(text)?.[1]?.trim() });
    case "codex_context":
      return codexTitle(code, { name: /source="([^"]+)"/.exec(start)?.[1]?.trim() });
    default:
      return codexTitle(code);
  }
}

/** The author of a user message, by the kinds that Codex records for each content item since 0.169. `undefined`: unknown. */
export function authorByKinds(payload: JsonObject): "person" | "agent" | undefined {
  const passthrough = asObject(payload.internal_chat_message_metadata_passthrough);
  const kinds = asArray(passthrough?.content_item_kinds);
  const first = asString(kinds[0]);
  if (first === undefined || first === "unknown") return undefined;
  return first.startsWith("user.") ? "person" : "agent";
}

/** Whether a message was sent by a schedule of the host program. */
export function isScheduled(payload: JsonObject): boolean {
  const passthrough = asObject(payload.internal_chat_message_metadata_passthrough);
  return asArray(passthrough?.content_item_kinds)[0] === "user.heartbeat";
}

/** A title for injected text with kinds but without a known start: `generic.turn_aborted` → `Turn aborted`. */
export function titleByKinds(payload: JsonObject): DisplayText {
  const passthrough = asObject(payload.internal_chat_message_metadata_passthrough);
  const kind = asString(asArray(passthrough?.content_item_kinds)[0]);
  if (kind === undefined) return codexTitle("injected_message");
  const name = (kind.split(".").at(-1) ?? kind).replaceAll("_", " ");
  return name.charAt(0).toUpperCase() + name.slice(1);
}
