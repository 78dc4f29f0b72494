/**
 * A directive for the program around the agent, on a line of its own in an answer: `::git-commit{cwd="/w"}`. Defined by Codex's
 * desktop program; all others are text.
 */
export type Directive =
  | { type: "stage"; cwd?: string }
  | { type: "commit"; cwd?: string }
  | { type: "branch"; branch: string; cwd?: string }
  | { type: "push"; branch?: string; cwd?: string }
  | { type: "pull_request"; url: string; is_draft: boolean; branch?: string; cwd?: string }
  | { type: "thread"; id: string }
  | {
      type: "comment";
      title: string;
      body: string;
      file: string;
      /** One-based lines. */
      start?: number;
      end?: number;
      priority?: number;
    };

/** A section of a text: text, or directives on consecutive lines. `source`: their original text. */
export type TextPiece =
  | { type: "text"; text: string }
  | { type: "directives"; directives: Directive[]; source: string };

const LINE = /^ {0,3}::([a-z][a-z-]*)\{(.*)\}\s*$/;
const ATTRIBUTE = /\s*([A-Za-z]\w*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"{}]+))/y;
/** A line that opens or closes a code block. Directives inside are examples. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Splits a complete text into text and directives. A text without directives is one section, and anything that is not exactly a
 * directive stays text.
 */
export function splitDirectives(text: string): TextPiece[] {
  if (!text.includes("::")) return [{ type: "text", text }];
  const pieces: TextPiece[] = [];
  let lines: string[] = [];
  let found: { directives: Directive[]; lines: string[] } | undefined;
  let fence: string | undefined;

  const endText = (): void => {
    const joined = lines.join("\n");
    lines = [];
    if (joined.trim() !== "") pieces.push({ type: "text", text: joined });
  };
  const endDirectives = (): void => {
    if (found !== undefined)
      pieces.push({ type: "directives", directives: found.directives, source: found.lines.join("\n") });
    found = undefined;
  };
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    const directive = fence === undefined && mark === undefined ? directiveOf(line) : undefined;
    if (directive !== undefined) {
      if (found === undefined) endText();
      found ??= { directives: [], lines: [] };
      found.directives.push(directive);
      found.lines.push(line);
      lines = [];
    } else {
      if (line.trim() !== "") endDirectives();
      lines.push(line);
    }
  }
  endDirectives();
  endText();
  return pieces.length === 0 ? [{ type: "text", text }] : pieces;
}

function directiveOf(line: string): Directive | undefined {
  const [, name, written] = LINE.exec(line) ?? [];
  const given = written === undefined ? undefined : attributesOf(written);
  if (given === undefined) return undefined;
  const text = (key: string): string | undefined => given.get(key);
  const number = (key: string): number | undefined => {
    const value = Number(given.get(key));
    return Number.isSafeInteger(value) ? value : undefined;
  };
  const cwd = text("cwd");
  const branch = text("branch");
  const where = { ...(cwd === undefined ? {} : { cwd }) };
  const there = { ...where, ...(branch === undefined ? {} : { branch }) };
  switch (name) {
    case "git-stage":
      return { type: "stage", ...where };
    case "git-commit":
      return { type: "commit", ...where };
    case "git-create-branch":
      return branch === undefined ? undefined : { type: "branch", branch, ...where };
    case "git-push":
      return { type: "push", ...there };
    case "git-create-pr": {
      const url = text("url");
      return url === undefined
        ? undefined
        : { type: "pull_request", url, is_draft: text("isDraft") === "true", ...there };
    }
    case "created-thread": {
      const id = text("threadId") ?? text("clientThreadId") ?? text("pendingWorktreeId");
      return id === undefined ? undefined : { type: "thread", id };
    }
    case "code-comment": {
      const title = text("title");
      const body = text("body");
      const file = text("file");
      if (title === undefined || body === undefined || file === undefined) return undefined;
      const start = number("start");
      const end = number("end");
      const priority = number("priority");
      return {
        type: "comment",
        title,
        body,
        file,
        ...(start === undefined ? {} : { start }),
        ...(end === undefined ? {} : { end }),
        ...(priority === undefined ? {} : { priority }),
      };
    }
    default:
      return undefined;
  }
}

/** `undefined`: not a valid list of attributes. */
function attributesOf(written: string): Map<string, string> | undefined {
  const attributes = new Map<string, string>();
  ATTRIBUTE.lastIndex = 0;
  let end = 0;
  for (let match = ATTRIBUTE.exec(written); match !== null; match = ATTRIBUTE.exec(written)) {
    const [, name = "", quoted, bare = ""] = match;
    attributes.set(name, quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1"));
    end = ATTRIBUTE.lastIndex;
  }
  return written.slice(end).trim() === "" ? attributes : undefined;
}

/** A directive in a few words. `known`: a branch that was named before. */
export function directiveText(directive: Directive, known?: string): string {
  switch (directive.type) {
    case "stage":
      return "stage";
    case "commit":
      return "commit";
    case "branch":
      return `branch ${directive.branch}`;
    case "push":
      return directive.branch === undefined || directive.branch === known
        ? "push"
        : `push ${directive.branch}`;
    case "pull_request": {
      const number = /\/(?:pull|pulls|merge_requests)\/(\d+)/.exec(directive.url)?.[1];
      return `${number === undefined ? "PR" : `PR #${number}`}${directive.is_draft ? " (draft)" : ""}`;
    }
    case "thread":
      return `task ${directive.id}`;
    case "comment": {
      const { title, file, start, end } = directive;
      const lines =
        start === undefined ? "" : end === undefined || end === start ? `:${start}` : `:${start}-${end}`;
      return `comment: ${title} · ${file}${lines}`;
    }
    default:
      return directive satisfies never;
  }
}
