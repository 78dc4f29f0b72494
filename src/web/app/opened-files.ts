import { MAX_OPENED_FILES, OPENED_LIMIT, type OpenedFilesReply } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { type Client, keepOpenedRows } from "./store.ts";

/** What was dropped, or chosen in a file dialog. */
export type Given = { readonly entries: readonly FileSystemEntry[] } | { readonly files: readonly File[] };

/** A file with its place among those that are opened together. */
interface PlacedFile {
  /** `folder/sub/name`, or the name alone. */
  readonly path: string;
  readonly file: File;
}

/** Folders that hold no sessions and many files. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Sends files to the daemon, which keeps them in memory. Resolves with their sessions, or with a message about the problem. */
export async function openFiles(
  client: Client,
  given: Given,
): Promise<OpenedFilesReply | { problem: string }> {
  let files: readonly PlacedFile[];
  try {
    files = "entries" in given ? await filesBelow(given.entries) : given.files.map(placed).filter(isWanted);
  } catch {
    return { problem: t.opened.unreadable };
  }
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > OPENED_LIMIT) return { problem: t.opened.tooLarge(OPENED_LIMIT) };
  if (files.length > MAX_OPENED_FILES) return { problem: t.opened.tooMany(MAX_OPENED_FILES) };
  const head = files.map(({ path, file }) => ({ path, size: file.size, modified_at: file.lastModified }));
  const reply = await apiOf(client).openFiles(
    new Blob([`${JSON.stringify({ files: head })}\n`, ...files.map(({ file }) => file)]),
  );
  if (!reply.ok) return { problem: failureText(reply.failure) };
  keepOpenedRows(client, reply.value.sessions);
  return reply.value;
}

/** Of a chosen folder a file has its path in it. */
const placed = (file: File): PlacedFile => ({ path: file.webkitRelativePath || file.name, file });
const isWanted = ({ path }: PlacedFile): boolean => !path.split("/").some((name) => SKIPPED.has(name));

/** All files of dropped folders, at most one more than may be opened. */
async function filesBelow(entries: readonly FileSystemEntry[]): Promise<PlacedFile[]> {
  const found: PlacedFile[] = [];
  const waiting = [...entries];
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    if (found.length > MAX_OPENED_FILES) break;
    if (isFile(entry)) found.push({ path: entry.fullPath.slice(1), file: await fileOf(entry) });
    else if (isFolder(entry) && !SKIPPED.has(entry.name)) waiting.push(...(await entriesIn(entry)));
  }
  return found;
}

// Chromium has no constructors for these, so their own properties are checked.
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A reader gives some entries at a time, and none at the end. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Sessions that no other one of the same files started. */
export const topSessions = ({ sessions }: OpenedFilesReply): OpenedFilesReply["sessions"] =>
  sessions.filter(
    ({ parent }) => parent === undefined || !sessions.some(({ id }) => id === parent.session_id),
  );
