import * as z from "zod";
import { optional } from "../model/record.ts";
import { matchWithStars } from "./wildcard.ts";

/**
 * A rule about calls of a tool, from the configuration or added by a user who chose "always".
 *
 * - `tool`: a tool's name; `*` matches any text (`mcp__github__*`).
 * - `exact`: the call's target, character for character. "Always allow" adds such rules.
 * - `pattern`: matched against the whole target; `*` matches any text, everything else is literal.
 * - Neither: every call of the tool.
 *
 * **Precedence.** A matching `deny` always wins. Otherwise the last matching rule wins, so that a later rule is an exception to
 * an earlier one. Without a match the tool's own default applies.
 *
 * **`*` in `allow` rules.** A pattern never allows more than it shows:
 * - in a command, `*` matches letters, digits, blanks and `_-./,:@%+`, and `=` after the first word. So `git status*` allows `git
 * status -s`, but neither `git status; rm -rf ~` nor `git status $(…)`, a second line, a redirection or a quote: everything that
 * the shell could interpret must be in the pattern itself;
 * - in the scheme, host and port of a URL, it matches any characters that do not end them, and no user name;
 * - elsewhere (paths) it matches anything. Paths are relative to the session's folder, with all links resolved.
 *
 * **`*` in `deny` and `ask` rules** matches anything. Of a command, each part between separators is tried too, with and without
 * words that only precede a command: `rm *` also matches `true; rm x`, `if true; then rm x; fi` and `A=1 sudo rm x`. This is not
 * complete, because a shell has countless ways to write the same thing: use `ask` for what must not happen. The host of a URL is
 * matched ignoring case and a trailing dot, and an origin alone (`https://example.com`) matches the whole site.
 *
 * **Unknown fields** are rejected: with a misspelled `pattern` the rule would apply to every call of the tool.
 */
export const permissionRule = z.strictObject({
  tool: z.string(),
  pattern: optional(z.string()),
  exact: optional(z.string()),
  decision: z.enum(["allow", "ask", "deny"]),
});
export type PermissionRule = z.infer<typeof permissionRule>;
type PermissionDecision = PermissionRule["decision"];

/** The properties of a call that rules are matched against. */
interface RuledCall {
  tool_name: string;
  /** `PreparedCall.target`. */
  target: string;
}

/** The decision of the rules about a call, and the rule that decided. Without such a rule, the tool's default applies. */
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
 * Whether a search may show a file that it finds, according to the rules for these tools. Files with a `deny` or `ask` rule are
 * not shown, because the user cannot be asked during a search. An `ask` rule that also matches the search itself is ignored,
 * because it was applied before the search began.
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

/** A note in the result of a search about files that `mayShow` excluded. */
export function leftOutNote(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"} excluded by rules`;
}

/**
 * The rule that "always allow" adds for a call: it allows exactly this command, path or URL. For tools whose calls have no target
 * (MCP servers, `todo`, `ask`, `task`), it allows the tool.
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

/** Whether `text` matches `pattern`, where `*` matches any characters that `mayStandFor` accepts. */
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
  // `NAME=value` before a command's name changes the command's meaning.
  const firstWord = /^\s*\S*/.exec(command)?.[0].length ?? 0;
  // Surrogates do not count as plain characters, because they are halves of characters of any kind.
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

/** Maximum number of skipped prefixes, each of which needs another match. */
const PREFIX_LIMIT = 50;

/**
 * What can precede the name of a command: reserved words, assignments, and commands that run another command, with their options.
 * These are skipped only for `deny` and `ask` rules. An `allow` rule must contain them.
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
 * Normalizes the host of a URL or of a pattern for URLs as in fetched URLs, and removes a trailing dot from it. A pattern that
 * ends with the host matches everything on it.
 */
function withPlainHost(text: string): string {
  const [, origin, rest = "/*"] = /^([a-z*]+:\/\/[^/?#\\]+)(.+)?$/is.exec(text) ?? [];
  if (origin === undefined) return text;
  const plain = URL.canParse(origin) ? new URL(origin).origin : origin.toLowerCase();
  return plain.replace(/\.+(?=(?::[\d*]*)?$)/, "") + rest;
}

/**
 * Whether an `allow` rule literally names the host of this URL and the host is private. This is required to fetch from this
 * machine or its network. A pattern such as `*` does not count. A rule for a public name does not allow private addresses that
 * the name may resolve to.
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

/** Whether a host name (not an IP address) can only refer to this machine or its network, regardless of what it resolves to. */
export function isPrivateName(hostname: string): boolean {
  // A trailing dot marks a fully qualified name and does not change it.
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || /\.(?:localhost|local|internal|lan|home\.arpa)$/.test(name);
}
