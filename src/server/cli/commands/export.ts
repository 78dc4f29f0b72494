import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isUuid } from "../../../model/is-uuid.ts";
import { statusReply } from "../../../protocol.ts";
import { formats } from "../../../sources/index.ts";
import { loadAccess } from "../../auth/access.ts";
import { requestLink } from "../../auth/control-socket.ts";
import { EXPORT_FORMATS, type ExportFormat, isExportFormat } from "../../sessions/export.ts";
import { UsageError } from "../../usage-error.ts";
import { readProgram, startDaemon } from "../daemon.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { show } from "../show-files.ts";
import { print, printLine } from "../terminal.ts";

/** Interval of the check whether all session files are read, in milliseconds. */
const INDEX_CHECK_MS = 100;

/** `export`: prints a session, given by its id or its file, as history JSONL or as Markdown. */
export async function exportSessions(operands: string[], flags: Flags): Promise<number> {
  const [name, ...more] = operands;
  if (name === undefined || more.length > 0)
    throw new UsageError("Specify one session or file: export SESSION");
  const format = flags.format ?? "jsonl";
  if (!isExportFormat(format)) {
    throw new UsageError(`--format ${format}: unknown format. Choose one of: ${EXPORT_FORMATS.join(", ")}.`);
  }
  if (isUuid(name)) return await exportById(name, format, flags);
  if (!existsSync(name)) throw new UsageError(`${name}: neither a file nor the whole id of a session.`);
  return await show({
    files: [name],
    formats,
    as: format,
    ...(flags.session !== undefined && { session: flags.session }),
    write: async (text) => {
      await print(text);
    },
    warn: printLine,
  });
}

/** Requests the session from the running daemon, or from a temporary one. */
async function exportById(id: string, format: ExportFormat, flags: Flags): Promise<number> {
  const data_dir = dataDirOf(flags);
  const running = await requestLink(data_dir);
  const own =
    running === undefined
      ? await startDaemon([], { ...flags, samples: false, port: "0" }, await readProgram(flags))
      : undefined;
  const { origin } = running ?? own ?? { origin: "" };
  const headers = { authorization: `Bearer ${loadAccess(data_dir).api_token}` };
  try {
    // A daemon that has just started lists a session only once its file is read.
    for (let done = own === undefined; !done; await sleep(INDEX_CHECK_MS)) {
      const status = statusReply.parse(await (await fetch(`${origin}/api/status`, { headers })).json());
      done = status.index.done;
    }
    const response = await fetch(`${origin}/api/sessions/${id}/export?format=${format}`, { headers });
    if (response.status === 404) throw new UsageError(`There is no session ${id}.`);
    if (!response.ok) throw new UsageError(`The session cannot be exported: ${await response.text()}`);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) await print(decoder.decode(chunk, { stream: true }));
    return 0;
  } finally {
    await own?.close();
  }
}
