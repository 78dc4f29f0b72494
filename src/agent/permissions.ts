import * as z from "zod";
import { optional } from "../model/record.ts";
import { matchWithStars } from "./wildcard.ts";

/**
 * A rule about calls of a tool, from the configuration or from a person who chose "always".
 *
 * - `tool`: a tool's name; `*` in it stands for any text (`mcp__github__*`).
 * - `exact`: the call's target, character for character. This is what "always allow" adds.
 * - `pattern`: matched against the whole target; `*` in it stands for any text, everything else for itself.
 * - Neither: every call of the tool.
 *
 * **Which rule holds.** A `deny` that matches always wins. Otherwise the last rule that matches wins, so that a later rule is an
 * exception to an earlier one. Where none matches, the tool's own default holds.
 *
 * **What a `*` stands for when it allows.** A pattern never allows more than it shows:
 * - in a command: letters, digits, blanks and `_-./,:@%+`, and `=` behind the first word. So `git status*` allows `git status -s`,
 *   and neither `git status; rm -rf ~` nor `git status $(…)`, a second line, a redirection or a quote: whatever the shell could read as more
 *   than a plain word must stand in the pattern itself;
 * - in the scheme, host and port of an address: anything but what would end them, and no user name;
 * - elsewhere (paths): anything. Paths are relative to the session's folder, with all links resolved.
 *
 * **What a `deny` or `ask` reaches.** Its `*` stands for anything, and of a command each part between separators is tried as well, with
 * and without the words that only lead to a command: `rm *` also stops `true; rm x`, `if true; then rm x; fi` and `A=1 sudo rm x`. It is a
 * net, not a wall: a shell has countless ways to write the same thing. What must not happen needs `ask`. The host
 * of an address is met in either case and with a dot behind it, and an origin alone (`https://example.com`) means the whole site.
 *
 * **Fields of other names** are refused: a `pattern` that is misspelled would leave a rule about every call of the tool.
 */
export const permissionRule = z.strictObject({
  tool: z.string(),
  pattern: optional(z.string()),
  exact: optional(z.string()),
  decision: z.enum(["allow", "ask", "deny"]),
});
export type PermissionRule = z.infer<typeof permissionRule>;
type PermissionDecision = PermissionRule["decision"];

/** A call as the rules see it. */
interface RuledCall {
  tool_name: string;
  /** `PreparedCall.target`. */
  target: string;
}

/** What the rules say about a call, and the rule that decided; none: the tool's default. */
export function decide(
  rules: readonly PermissionRule[],
  call: RuledCall,
  default_decision: PermissionDecision,
): { decision: PermissionDecision; rule?: PermissionRule } {
  let last: PermissionRule | undefined;
  for (const rule of rules) {
    if (!matches(rule, call)) continue;
    if (rule.decision === "deny") return { decision: "deny", rule };
    last = rule;
  }
  return last === undefined ? { decision: default_decision } : { decision: last.decision, rule: last };
}

/**
 * Whether a search may show a file that it comes upon, which is what these tools would do with that file. What a rule denies it may not, nor
 * what a rule wants asked, as nobody can be asked in its midst; but a rule that the search itself falls under was answered when the
 * search was allowed.
 */
export function mayShow(
  rules: readonly PermissionRule[],
  search: RuledCall,
  tool_names: readonly string[],
  path: string,
): boolean {
  return tool_names.every((tool_name) => {
    const { decision, rule } = decide(rules, { tool_name, target: path }, "allow");
    return decision === "allow" || (decision === "ask" && rule !== undefined && matches(rule, search));
  });
}

/** What a search says of the files that `mayShow` kept from it. */
export function leftOutNote(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"} left out by rules`;
}

/**
 * The rule that "always allow" adds for a call: this command, this path or this address and no other; of a tool whose calls
 * have no target of their own (MCP servers, `todo`, `ask`, `task`), the tool.
 */
export function alwaysAllowed({ tool_name, target }: RuledCall): PermissionRule {
  return RULED_BY_TARGET.has(tool_name)
    ? { tool: tool_name, exact: target, decision: "allow" }
    : { tool: tool_name, decision: "allow" };
}
const RULED_BY_TARGET = new Set(["shell", "read", "write", "edit", "glob", "grep", "web_fetch"]);

function matches(rule: PermissionRule, { tool_name, target }: RuledCall): boolean {
  if (!matchText(tool_name, rule.tool)) return false;
  if (rule.exact !== undefined && rule.exact !== target) return false;
  if (rule.pattern === undefined) return true;
  if (tool_name === "shell") {
    return rule.decision === "allow"
      ? allowsCommand(target, rule.pattern)
      : reachesCommand(target, rule.pattern);
  }
  if (tool_name === "web_fetch") {
    return rule.decision === "allow"
      ? allowsAddress(target, rule.pattern)
      : reachesAddress(target, rule.pattern);
  }
  return matchText(target, rule.pattern);
}

/** Whether `text` is what `pattern` says, `*` standing for any text that `mayStandFor` takes, character by character. */
function matchText(
  text: string,
  pattern: string,
  canMatch?: (character: string, index: number) => boolean,
): boolean {
  return matchWithStars(
    text,
    pattern,
    (wanted) => wanted === "*",
    (character, wanted) => character === wanted,
    canMatch,
  );
}

const PLAIN_IN_COMMAND = /[\p{L}\p{N}\p{M}_\-./,:@%+= \t]/u;

function allowsCommand(command: string, pattern: string): boolean {
  // `NAME=value` before a command's name changes what the name means.
  const firstWord = /^\s*\S*/.exec(command)?.[0].length ?? 0;
  // Surrogates are halves of letters and of much else: not plain.
  return matchText(
    command,
    pattern,
    (character, index) => PLAIN_IN_COMMAND.test(character) && (character !== "=" || index >= firstWord),
  );
}

function reachesCommand(command: string, pattern: string): boolean {
  if (matchText(command, pattern)) return true;
  const parts = command.split(/[;&|\n\r(){}`]/);
  return parts.some((part) => {
    let rest = part.trim().replace(/\s+/g, " ");
    for (let allowsPrefix = 0; allowsPrefix <= PREFIX_LIMIT; allowsPrefix += 1) {
      if (matchText(rest, pattern)) return true;
      const lead = PREFIX.exec(rest)?.[0];
      if (lead === undefined) return false;
      rest = rest.slice(lead.length);
    }
    return false;
  });
}

/** More than anybody writes before a command; each is one more match against the pattern. */
const PREFIX_LIMIT = 50;

/**
 * What may stand before a command's name and only leads to it: a reserved word, an assignment, a command that runs what follows,
 * and the options of such a one, with their values. To skip it is right for what denies or asks alone: what allows must have said it.
 */
const PREFIX = new RegExp(
  `^(?:${[
    "if|then|else|elif|do|while|until|!|time",
    "command|builtin|exec|eval|env|nohup|nice|sudo|doas",
    /[A-Za-z_]\w*\+?=(?:"[^"]*"|'[^']*'|[^\s"'])*/.source,
    /-[A-Za-z]*[ugaCDRTU] \S+|--(?:user|group|unset|chdir) \S+|-n -?\d+|-\S+/.source,
  ].join("|")}) `,
);

function allowsAddress(address: string, pattern: string): boolean {
  const [, origin, rest] = /^([a-z*]+:\/\/[^/]+)(\/.*)?$/i.exec(pattern) ?? [];
  if (origin === undefined) return false;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") return false;
  return (
    matchText(url.origin, origin.toLowerCase(), (character) => /[\w.-]/.test(character)) &&
    (rest === undefined ? url.pathname === "/" : matchText(address.slice(url.origin.length), rest))
  );
}

function reachesAddress(address: string, pattern: string): boolean {
  const patterns = [pattern, withPlainHost(pattern)];
  return [address, withPlainHost(address)].some((text) => patterns.some((each) => matchText(text, each)));
}

/**
 * An address, or a pattern for some, with its host as addresses have it that are about to be fetched, without the dot that may
 * end a host's name. Where there is nothing behind the host, all that may stand there.
 */
function withPlainHost(text: string): string {
  const [, origin, rest = "/*"] = /^([a-z*]+:\/\/[^/?#\\]+)(.+)?$/is.exec(text) ?? [];
  if (origin === undefined) return text;
  const plain = URL.canParse(origin) ? new URL(origin).origin : origin.toLowerCase();
  return plain.replace(/\.+(?=(?::[\d*]*)?$)/, "") + rest;
}

/**
 * Whether a rule names this address's host itself and allows it, and the host is one that can only be meant as a private one: what a
 * fetch of this machine or its network needs. A pattern like `*` was not written with those in mind; and a rule for a public name must not
 * let that name, once it resolves to another address, reach into the operator's network.
 */
export function allowsPrivateHost(rules: readonly PermissionRule[], address: string): boolean {
  const { origin, hostname } = new URL(address);
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  if (!isAddress && !isPrivateName(hostname)) return false;
  const { decision, rule } = decide(rules, { tool_name: "web_fetch", target: address }, "ask");
  if (decision !== "allow" || rule === undefined) return false;
  return (
    rule.exact === address || rule.pattern === origin || (rule.pattern?.startsWith(`${origin}/`) ?? false)
  );
}

/** Whether a host's name, which is no IP address, can only be meant as one of this machine or its network, whatever it resolves to. */
export function isPrivateName(hostname: string): boolean {
  // The dot that may end a name says that it is whole, and makes it no other one.
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || /\.(?:localhost|local|internal|lan|home\.arpa)$/.test(name);
}
