import { asText } from "../../model/narrow.ts";
import { own } from "../conversation/own.ts";
import { parseObject } from "../lines/parse-object.ts";
import { attribute, parseWrappers, type WrapperElement } from "./wrappers.ts";

/** A message from another agent or session, without the program's text around it. */
export interface AgentMessage {
  from: string;
  text: string;
}

const TAGS = new Set(["agent-message", "cross-session-message", "teammate-message"]);

/** The program's preface of a message, which names the sender. */
const PREFACE =
  /^(Another Claude session|A peer session|The coordinator) sent a message(?: while you were working)?:[ \t]*\n/;
const SENDERS: Record<string, string> = {
  "Another Claude session": "another session",
  "A peer session": "another session",
  "The coordinator": "the coordinator",
};

/** The start of the paragraphs that the program appends to a message: rules on what the model may do for the sender. */
const TRAILER =
  /^(?:Address this before completing your current task\.|After completing your current task, |This came from another Claude session|That "other Claude session" is an agent|This is task direction from your coordinator)/;

/** Whether an element contains another agent's message. */
function isAgentMessage({ tag }: WrapperElement): boolean {
  return TAGS.has(tag);
}

/** The messages of other agents, if the text consists of nothing else; otherwise `undefined`: a person wrote it. */
export function agentMessages(text: string): AgentMessage[] | undefined {
  const whole = text.trim();
  const preface = PREFACE.exec(whole);
  const framed = whole.slice(preface?.[0].length ?? 0);
  const bare = preface === null ? framed : withoutTrailer(framed);
  const elements = parseWrappers(bare);
  if (elements !== undefined) return elements.every(isAgentMessage) ? elements.map(messageOf) : undefined;
  // Some senders write no tags. Only text on both sides then shows that no person typed it.
  if (preface === null || bare === framed) return undefined;
  return [{ from: own(SENDERS, preface[1]) ?? "another agent", text: bare }];
}

/** Searches from the end, because the message may quote the program's text. */
function withoutTrailer(text: string): string {
  let rest = text;
  while (true) {
    const at = rest.lastIndexOf("\n\n");
    if (at === -1 || !TRAILER.test(rest.slice(at + 2))) return rest;
    rest = rest.slice(0, at).trimEnd();
  }
}

/** Reads an element that is known to be an agent's message. A sender without a name becomes "another agent". */
export function messageOf(element: WrapperElement): AgentMessage {
  const from =
    attribute(element, "teammate_id") ?? attribute(element, "from-name") ?? attribute(element, "from");
  return { from: from ?? "another agent", text: readableText(element.body.trim()) };
}

/** The readable fields of a message between programs: `{"type":"idle_notification",…}`. */
const TEXT_FIELDS = [
  "subject",
  "description",
  "result",
  "summary",
  "message",
  "content",
  "planContent",
  "feedback",
  "reason",
  "failureReason",
];

/** The readable fields of a message, or the message itself if no program wrote it. */
export function readableText(body: string): string {
  const fields = body.startsWith("{") ? parseObject(body) : undefined;
  const type = asText(fields?.type);
  if (fields === undefined || type === undefined) return body;
  const texts = TEXT_FIELDS.flatMap((key) => asText(fields[key]) ?? []);
  const name = type.replaceAll("_", " ");
  return texts.length === 0 ? name : `${name}: ${texts.join("\n\n")}`;
}
