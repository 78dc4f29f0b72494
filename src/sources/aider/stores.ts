import type { OpenStore, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { withSaveTime } from "../documents/save-time.ts";
import { isChatHistory, readChatHistory } from "./chat-history.ts";

/**
 * Aider's chat history, `.aider.chat.history.md` in the folder of a Git repository: a Markdown file to which every start of Aider
 * in that folder appends a session.
 */
export const aiderSnapshots: Snapshots = {
  storeOf: (path) => (/(?:^|\/)[^/]*\.chat\.history\.md$/.test(path) ? path : undefined),
  recognizes: (store) => isChatHistory(store.readText(store.path) ?? ""),
  sessions,
};

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const text = store.readText(store.path);
  if (text === undefined || !isChatHistory(text)) return;
  const all = readChatHistory(text);
  const modified = store.modifiedAt(store.path) ?? 0;
  const names = new Map<string, number>();
  for (const [index, { started, line, blocks }] of all.entries()) {
    const count = (names.get(started) ?? 0) + 1;
    names.set(started, count);
    const at = millisecondsOf(started);
    const isLast = index === all.length - 1;
    // A start without a prompt is no session.
    if (!blocks.some(({ kind }) => kind === "prompt" || kind === "answer")) continue;
    const record = (key: string, offset: number, value: object): SnapshotRecord => ({
      key,
      place: { kind: "document", file: store.path, pointer: `/${line + offset}` },
      text: JSON.stringify(value),
    });
    yield {
      name: `${store.path}#${started}${count > 1 ? `#${count}` : ""}`,
      kind: "session",
      modified_at: isLast ? modified : (at ?? modified),
      *records() {
        yield record("head", 0, { started: at, folder: store.path.replace(/[/\\][^/\\]*$/, "") });
        const ordered = blocks.map((block) => ({
          record: record(`line:${block.line}`, block.line, block),
          isPrompt: block.kind === "prompt",
        }));
        // Only the last session can still have written to the file.
        if (isLast) yield* withSaveTime(ordered, record("saved", 0, { saved: modified }));
        else for (const { record: block } of ordered) yield block;
      },
    };
  }
}

/** A time of this machine's time zone, in milliseconds. */
function millisecondsOf(local: string): number | undefined {
  const time = Date.parse(local.replace(" ", "T"));
  return Number.isNaN(time) ? undefined : time;
}
