import * as z from "zod";
import { optional, record } from "../model/record.ts";
import { sessionSummary } from "../model/session.ts";
import { textCode } from "../model/text/coded-text.ts";

/** Maximum total size of the files that are open without being stored, in bytes. */
export const OPENED_LIMIT = 256 * 1024 * 1024;

/** Maximum number of files that are opened together. */
export const MAX_OPENED_FILES = 10_000;

/** Maximum length of the first line of the body of `POST /api/opened-files`, in bytes. */
export const OPENED_HEAD_LIMIT = 4 * 1024 * 1024;

/** That line, as JSON. The bytes of the files follow, one after the other. `path`: relative, with `/`. */
export const openedFilesHead = record({
  files: z
    .array(record({ path: z.string().min(1).max(4_096), size: z.int().min(0), modified_at: z.number() }))
    .max(MAX_OPENED_FILES),
});
export type OpenedFilesHead = z.infer<typeof openedFilesHead>;

/** The sessions in files that were opened together, newest first. `GET /api/opened-files/:session` returns them again. */
export const openedFilesReply = record({
  sessions: z.array(sessionSummary),
  problems: z.array(record({ path: z.string(), text: z.string(), text_code: optional(textCode) })),
});
export type OpenedFilesReply = z.infer<typeof openedFilesReply>;
