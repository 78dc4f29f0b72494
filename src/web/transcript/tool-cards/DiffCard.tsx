// The package's main entry would include all its algorithms.
import { structuredPatch } from "diff/lib/patch/create.js";
import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { FileDiff } from "../../../model/parts/ui-extra.ts";
import { Diff, DiffCounts } from "../../code/Diff.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import {
  type CallView,
  type CardBodyProps,
  isRecord,
  list,
  oneLine,
  shortPath,
  type ToolCard,
  text,
} from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** File changes as reported by the tool, or otherwise as requested by its arguments. */
export const diffCard: ToolCard = {
  payloads: ["diff"],
  kind: "edit",
  summary: (view) => {
    const files = filesOf(view);
    const first = files[0];
    const additions = files.reduce((sum, file) => sum + file.additions, 0);
    const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
    const path =
      first?.path ??
      text(view.input, "file_path", "path", "notebook_path", "filepath") ??
      oneLine(view.call.arguments_json, 120);
    const more = files.length > 1 ? t.cards.moreFiles(files.length - 1) : "";
    return {
      label: label(view, files),
      subject: (
        <>
          {visible(shortPath(path, view.cwd), "name")}
          {first?.new_path !== undefined && <> → {visible(shortPath(first.new_path, view.cwd), "name")}</>}
          {more}
        </>
      ),
      title: path + more,
      // A failed call that reports no diff changed nothing.
      figures:
        additions + deletions > 0 && (!view.failed || view.extra?.type === "diff") ? (
          <DiffCounts additions={additions} deletions={deletions} />
        ) : undefined,
    };
  },
  Body: DiffBody,
  shows: (view) => ({ input: filesOf(view).length > 0 }),
};

function label(view: CallView, files: readonly FileDiff[]): string {
  const name = view.call.tool_name;
  if (/^[A-Z]/.test(name)) return name;
  const changes = new Set(files.map((file) => file.change));
  if (changes.size === 1 && changes.has("create")) return t.cards.write;
  if (changes.size === 1 && changes.has("delete")) return t.cards.delete;
  if (changes.size === 1 && changes.has("move")) return t.cards.move;
  return files.length > 0 ? t.cards.edit : toolLabel(name);
}

const cache = new WeakMap<object, FileDiff[]>();

/** The files that a call changes, with their hunks. */
function filesOf(view: CallView): FileDiff[] {
  const key = view.result ?? view.call;
  const known = cache.get(key);
  if (known) return known;
  const files =
    view.extra?.type === "diff" && view.extra.files.length > 0 ? view.extra.files : fromArguments(view);
  cache.set(key, files);
  return files;
}

function fromArguments({ input, call }: CallView): FileDiff[] {
  const patch =
    text(input, "input", "patch", "patchText") ??
    (call.tool_name === "apply_patch" ? call.arguments_json : undefined);
  if (patch?.includes("*** Begin Patch")) return readPatch(patch);
  const path = text(input, "file_path", "path", "notebook_path", "filePath", "filepath");
  if (path === undefined) return [];
  const edits = list(input, "edits").filter(isRecord);
  if (edits.length > 0) {
    const maxLines = edits.length === 1 ? MAX_LINES : Math.floor(MAX_LINES / 2 / Math.sqrt(edits.length));
    const parts = edits.map((edit) =>
      compare(
        path,
        text(edit, "old_string", "oldText") ?? "",
        text(edit, "new_string", "newText") ?? "",
        maxLines,
      ),
    );
    return [
      {
        path,
        change: "update",
        additions: parts.reduce((sum, part) => sum + part.additions, 0),
        deletions: parts.reduce((sum, part) => sum + part.deletions, 0),
        hunks: parts.flatMap((part) => part.hunks),
      },
    ];
  }
  const before = text(input, "old_text", "old_string", "old_str", "oldStr", "oldString", "oldText");
  const after = text(
    input,
    "new_text",
    "new_string",
    "new_str",
    "newStr",
    "newString",
    "newText",
    "new_source",
  );
  if (before !== undefined || after !== undefined) return [compare(path, before ?? "", after ?? "")];
  const content = text(input, "content", "file_text", "contents", "text");
  return content === undefined ? [] : [{ ...compare(path, "", content), change: "create" }];
}

/** Maximum number of changed lines to diff. The time is quadratic, so the edits of one call share the limit. */
const MAX_LINES = 4_000;

/** The diff of two texts whose position in the file is unknown. */
function compare(path: string, before: string, after: string, maxLines = MAX_LINES): FileDiff {
  const patch =
    before !== "" && before.length + after.length < 400_000
      ? structuredPatch(path, path, before, after, undefined, undefined, {
          context: 3,
          timeout: 100,
          maxEditLength: maxLines,
        })
      : undefined;
  const hunks = patch
    ? patch.hunks.map((hunk) => ({
        old_start: 0,
        old_lines: hunk.oldLines,
        new_start: 0,
        new_lines: hunk.newLines,
        lines: hunk.lines.filter((line) => !line.startsWith("\\")),
      }))
    : [whole(before, after)];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    path,
    change: "update",
    additions: lines.filter((line) => line.startsWith("+")).length,
    deletions: lines.filter((line) => line.startsWith("-")).length,
    hunks,
  };
}

/** Removes all old lines and adds all new ones. */
function whole(before: string, after: string): FileDiff["hunks"][number] {
  const split = (value: string, sign: string): string[] =>
    value === ""
      ? []
      : value
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const removed = split(before, "-");
  const added = split(after, "+");
  return {
    old_start: 0,
    old_lines: removed.length,
    new_start: before === "" ? 1 : 0,
    new_lines: added.length,
    lines: [...removed, ...added],
  };
}

/** Codex's patch text: `*** Add|Update|Delete File: path`, `*** Move to:`, hunks that begin with `@@`. */
function readPatch(patch: string): FileDiff[] {
  const files: FileDiff[] = [];
  let lines: string[] = [];
  const close = (): void => {
    const file = files.at(-1);
    if (!file || lines.length === 0) return;
    file.hunks.push({
      old_start: 0,
      old_lines: lines.filter((line) => !line.startsWith("+")).length,
      new_start: file.change === "create" ? 1 : 0,
      new_lines: lines.filter((line) => !line.startsWith("-")).length,
      lines,
    });
    lines = [];
  };
  for (const line of patch.split("\n")) {
    const header = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line);
    if (header) {
      close();
      const change = header[1] === "Add" ? "create" : header[1] === "Delete" ? "delete" : "update";
      files.push({ path: header[2] ?? "", change, additions: 0, deletions: 0, hunks: [] });
      continue;
    }
    const file = files.at(-1);
    const moved = /^\*\*\* Move to: (.*)$/.exec(line)?.[1];
    if (file && moved !== undefined) {
      file.new_path = moved;
      file.change = "move";
    } else if (line.startsWith("@@") || line.startsWith("*** End")) close();
    else if (file && /^[ +-]/.test(line)) {
      if (line.startsWith("+")) file.additions++;
      if (line.startsWith("-")) file.deletions++;
      lines.push(line);
    }
  }
  close();
  return files;
}

function DiffBody({ view }: CardBodyProps): ReactNode {
  return filesOf(view).map((file, index) => (
    <figure className="file-diff" key={index}>
      <figcaption>
        <span className="file-change">{t.cards.changes[file.change]}</span>{" "}
        <span className="file-path">
          {visible(file.path, "name")}
          {file.new_path !== undefined && <> → {visible(file.new_path, "name")}</>}
        </span>{" "}
        <DiffCounts additions={file.additions} deletions={file.deletions} />
      </figcaption>
      {file.hunks.length > 0 && (
        <Diff
          hunks={file.hunks}
          path={file.new_path ?? file.path}
          label={visibleText(t.diff.of(file.path), "name")}
        />
      )}
    </figure>
  ));
}
