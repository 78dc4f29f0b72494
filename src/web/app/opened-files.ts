import { MAX_OPENED_FILES, OPENED_LIMIT, type OpenedFilesReply } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { type Client, keepOpenedRows } from "./store.ts";

/** What the user dropped, or chose in a file dialog. */
export type ChosenFiles =
  | { readonly entries: readonly FileSystemEntry[] }
  | { readonly files: readonly File[] };

/** A file and its path relative to the opened folder. */
interface FileWithPath {
  /** `folder/sub/name`, or the name alone. */
  readonly path: string;
  readonly file: File;
}

/** Folders that have many files, but no sessions. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Sends files to the daemon, which keeps them in memory. Resolves with their sessions, or with an error message. */
export async function openFiles(
  client: Client,
  given: ChosenFiles,
): Promise<OpenedFilesReply | { problem: string }> {
  let files: readonly FileWithPath[];
  try {
    files = "entries" in given ? await filesBelow(given.entries) : given.files.map(withPath).filter(isWanted);
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

/** `webkitRelativePath` is set only for files of a folder that was chosen in a dialog. */
const withPath = (file: File): FileWithPath => ({ path: file.webkitRelativePath || file.name, file });
const isWanted = ({ path }: FileWithPath): boolean => !path.split("/").some((name) => SKIPPED.has(name));

/** Finds all files in dropped folders. Stops once there are more than `MAX_OPENED_FILES`. */
async function filesBelow(entries: readonly FileSystemEntry[]): Promise<FileWithPath[]> {
  const found: FileWithPath[] = [];
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

/** `readEntries` returns a batch per call, and an empty one at the end. */
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

/** The sessions that were not started by another session in these files. */
export const topSessions = ({ sessions }: OpenedFilesReply): OpenedFilesReply["sessions"] =>
  sessions.filter(
    ({ parent }) => parent === undefined || !sessions.some(({ id }) => id === parent.session_id),
  );
