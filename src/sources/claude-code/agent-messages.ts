import { asText } from "../../model/narrow.ts";
import { own } from "../conversation/own.ts";
import { parseObject } from "../lines/parse-object.ts";
import { attribute, parseWrappers, type WrapperElement } from "./wrappers.ts";

/** What another agent or session wrote to this one, taken out of what the program put around it. */
export interface AgentMessage {
  from: string;
  text: string;
}

const TAGS = new Set(["agent-message", "cross-session-message", "teammate-message"]);

/** What the program says before a message, and who it says has sent it. */
const PREFACE =
  /^(Another Claude session|A peer session|The coordinator) sent a message(?: while you were working)?:[ \t]*\n/;
const SENDERS: Record<string, string> = {
  "Another Claude session": "another session",
  "A peer session": "another session",
  "The coordinator": "the coordinator",
};

/** How the paragraphs begin that the program puts behind a message, about what the model may do for it. */
const TRAILER =
  /^(?:Address this before completing your current task\.|After completing your current task, |This came from another Claude session|That "other Claude session" is an agent|This is task direction from your coordinator)/;

/** Whether an element holds what another agent wrote. */
function isAgentMessage({ tag }: WrapperElement): boolean {
  return TAGS.has(tag);
}

/**
 * The messages of other agents that a text as a whole consists of, or `undefined`: the same words with anything else around
 * them are a person's.
 */
export function agentMessages(text: string): AgentMessage[] | undefined {
  const whole = text.trim();
  const preface = PREFACE.exec(whole);
  const framed = whole.slice(preface?.[0].length ?? 0);
  const bare = preface === null ? framed : withoutTrailer(framed);
  const elements = parseWrappers(bare);
  if (elements !== undefined) return elements.every(isAgentMessage) ? elements.map(messageOf) : undefined;
  // Some senders set no marks: then only what stands on both sides tells that no person typed it.
  if (preface === null || bare === framed) return undefined;
  return [{ from: own(SENDERS, preface[1]) ?? "another agent", text: bare }];
}

/** From its end: the message itself may quote what the program writes. */
function withoutTrailer(text: string): string {
  let rest = text;
  while (true) {
    const at = rest.lastIndexOf("\n\n");
    if (at === -1 || !TRAILER.test(rest.slice(at + 2))) return rest;
    rest = rest.slice(0, at).trimEnd();
  }
}

/** Takes it for granted that the element is an agent's message; a sender that it does not name is "another agent". */
export function messageOf(element: WrapperElement): AgentMessage {
  const from =
    attribute(element, "teammate_id") ?? attribute(element, "from-name") ?? attribute(element, "from");
  return { from: from ?? "another agent", text: inWords(element.body.trim()) };
}

/** What a person would read in a message that programs write to each other: `{"type":"idle_notification",…}`. */
const WORDS = [
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

function inWords(body: string): string {
  const told = body.startsWith("{") ? parseObject(body) : undefined;
  const type = asText(told?.type);
  if (told === undefined || type === undefined) return body;
  const said = WORDS.flatMap((key) => asText(told[key]) ?? []);
  const name = type.replaceAll("_", " ");
  return said.length === 0 ? name : `${name}: ${said.join("\n\n")}`;
}
