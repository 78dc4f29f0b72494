import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, type JsonObject } from "../../model/narrow.ts";
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
    } else if (item.type === "encrypted_content") parts.push({ type: "text", text: encrypted(item) });
    else if (item.image_url !== null) parts.push({ type: "unknown", raw: entry });
  }
  return { text: textOf(parts), parts };
}

/** The readable text of a message between agents, if it is not encrypted: ciphertext has no white space. */
function encrypted(item: JsonObject): string {
  const text = asString(item.encrypted_content) ?? "";
  return /\s/.test(text.trim()) ? text : "(encrypted)";
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

/** Text that Codex injects under the user's role, by its start, with a title. */
const INJECTED: readonly (readonly [RegExp, string])[] = [
  [/^# AGENTS\.md instructions/, "AGENTS.md instructions"],
  [/^<environment_context\b/, "Environment"],
  [/^<user_instructions\b/, "User instructions"],
  [/^<INSTRUCTIONS\b/, "Instructions"],
  [/^<permissions instructions\b/, "Permissions"],
  [/^<collaboration_mode\b/, "Collaboration mode"],
  [/^<recommended_plugins\b/, "Recommended plugins"],
  [/^<skill\b/, "Skill"],
  [/^<user_shell_command\b/, "User shell command"],
  [/^<codex_internal_context\b/, "Context from Codex"],
  [/^<subagent_notification\b/, "Sub-agent"],
  [/^<turn_aborted\b/, "Interrupted"],
  [/^<user_action\b/, "User action"],
  [
    /^<(?:skills|plugins|apps|tools|multi_agent\w*|realtime\w*|token_budget|personality\w*)(?:_instructions)?[ >]/,
    "Instructions",
  ],
];

/** The title of injected text; `undefined`: it does not look injected. */
export function injectedTitle(content: UserContent): string | undefined {
  const titles: string[] = [];
  for (const part of content.parts) {
    if (part.type !== "text") continue;
    const title = titleOf(part.text);
    if (title !== undefined && !titles.includes(title)) titles.push(title);
  }
  const first = content.parts.find((part) => part.type === "text");
  if (first === undefined || titleOf(first.text) === undefined) return undefined;
  return titles.join(", ");
}

function titleOf(text: string): string | undefined {
  const start = text.trimStart().slice(0, 60);
  const known = INJECTED.find(([pattern]) => pattern.test(start));
  if (known === undefined) return undefined;
  if (known[1] === "Skill") return named("Skill", /<name>([^<]+)<\/name>/.exec(text)?.[1]);
  if (known[1] === "Context from Codex") return named(known[1], /source="([^"]+)"/.exec(start)?.[1]);
  return known[1];
}

function named(title: string, name: string | undefined): string {
  return name === undefined ? title : `${title}: ${name.trim()}`;
}

/** The author of a user message, by the kinds that Codex records for each content item since 0.169. `undefined`: unknown. */
export function authorByKinds(payload: JsonObject): "person" | "agent" | undefined {
  const passthrough = asObject(payload.internal_chat_message_metadata_passthrough);
  const kinds = asArray(passthrough?.content_item_kinds);
  const first = asString(kinds[0]);
  if (first === undefined || first === "unknown") return undefined;
  return first.startsWith("user.") ? "person" : "agent";
}

/** A title for injected text with kinds but without a known start: `generic.turn_aborted` → `turn aborted`. */
export function titleByKinds(payload: JsonObject): string {
  const passthrough = asObject(payload.internal_chat_message_metadata_passthrough);
  const kind = asString(asArray(passthrough?.content_item_kinds)[0]);
  return kind === undefined ? "Injected message" : (kind.split(".").at(-1) ?? kind).replaceAll("_", " ");
}
