/** An element of the markup that Claude Code puts around content that it injects under the user's role. */
export interface WrapperElement {
  tag: string;
  /** The opening tag's attributes as text. */
  attributes: string;
  body: string;
}

/** Tags that were observed or documented. There may be others. */
const TAGS = new Set([
  "agent-message",
  "agent-notification",
  "bash-input",
  "bash-stderr",
  "bash-stdout",
  "command-args",
  "command-contents",
  "command-message",
  "command-name",
  "cross-session-message",
  "ide_diagnostics",
  "ide_opened_file",
  "ide_selection",
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "new-diagnostics",
  "post-tool-use-hook",
  "session-start-hook",
  "system-reminder",
  "task-notification",
  "teammate-message",
  "user-prompt-submit-hook",
]);

/** Text that the agent may write before a notification, outside any element. */
const NOTIFICATION_PREFACE =
  /^\[SYSTEM NOTIFICATION - NOT USER INPUT\][^<]*(?=<(?:task|agent)-notification>)/;

/** Text that the agent may append. Any other text after a wrapper makes it a prompt. */
const NOTIFICATION_TAIL = /^(Full transcript available at:|Read the output file to retrieve)[^\n]*$/;

/**
 * The elements of a text that consists entirely of wrapper markup, or `undefined`: a prompt that only quotes such tags remains
 * a prompt.
 */
export function parseWrappers(text: string): WrapperElement[] | undefined {
  const whole = text.trim().replace(NOTIFICATION_PREFACE, "");
  if (!whole.startsWith("<")) return undefined;
  const elements: WrapperElement[] = [];
  let at = 0;
  while (at < whole.length) {
    const opening = openingTag(whole, at);
    if (opening === undefined) return undefined;
    const { tag, attributes, end } = opening;
    const closing = `</${tag}>`;
    let close = whole.indexOf(closing, end);
    // A body may contain its own closing tag. Then the last one closes it, if it ends the text.
    if (close !== -1 && !mayFollow(whole, close + closing.length)) {
      const last = whole.lastIndexOf(closing);
      if (last + closing.length === whole.length) close = last;
    }
    if (close === -1) return undefined;
    elements.push({ tag, attributes, body: whole.slice(end, close) });
    at = skipSpace(whole, close + closing.length);
    if (tag.endsWith("-notification") && NOTIFICATION_TAIL.test(whole.slice(at))) break;
  }
  return elements;
}

function openingTag(text: string, at: number): { tag: string; attributes: string; end: number } | undefined {
  if (text[at] !== "<") return undefined;
  const end = text.indexOf(">", at);
  if (end === -1 || end - at > 2_000) return undefined;
  const inside = text.slice(at + 1, end);
  const space = inside.search(/\s/);
  const tag = space === -1 ? inside : inside.slice(0, space);
  if (!TAGS.has(tag)) return undefined;
  return { tag, attributes: space === -1 ? "" : inside.slice(space + 1), end: end + 1 };
}

function mayFollow(text: string, at: number): boolean {
  const next = skipSpace(text, at);
  return (
    next === text.length || openingTag(text, next) !== undefined || NOTIFICATION_TAIL.test(text.slice(next))
  );
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && /\s/.test(text[next] ?? "")) next += 1;
  return next;
}

/** Whether an element is a notification about a background task. */
export function isNotification({ tag }: WrapperElement): boolean {
  return tag === "task-notification" || tag === "agent-notification";
}

/** Value of an attribute of the opening tag. */
export function attribute(element: WrapperElement, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(element.attributes)?.[1];
}

/**
 * Fields of a notification that contain text of an agent or a program. They may contain their own closing tag and any other
 * field.
 */
const QUOTING = new Set(["event", "result"]);

/** The fields of a notification by tag. The first of duplicates wins. */
export function fieldsOf(body: string): Map<string, string> {
  const fields = new Map<string, string>();
  const checked = new Set<string>();
  const openings = /<(agent-id|event|result|status|summary|task-id|tool-use-id)>/g;
  for (let found = openings.exec(body); found !== null; found = openings.exec(body)) {
    const [opening, tag = ""] = found;
    if (checked.has(tag)) continue;
    checked.add(tag);
    const from = found.index + opening.length;
    const closing = `</${tag}>`;
    const to = QUOTING.has(tag) ? body.lastIndexOf(closing) : body.indexOf(closing, from);
    if (to < from) continue;
    fields.set(tag, body.slice(from, to).trim());
    openings.lastIndex = to + closing.length;
  }
  return fields;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences begin with the escape character
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Removes terminal sequences (ECMA-48): CSI, OSC (terminated or not), and two-character escapes. */
export function stripAnsi(text: string): string {
  return text.includes("\u001b") ? text.replace(ANSI, "") : text;
}
