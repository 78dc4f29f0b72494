import type { OpenedArchive } from "../../store/archive/contract.ts";
import { createArchiveBackfill } from "../archive/archive-backfill.ts";
import { createArchiveWriter } from "../archive/archive-writer.ts";
import type { Links } from "./links.ts";
import { type IndexedSession, isArchivable, type SessionFile, storedFile } from "./session-file.ts";

interface ArchivingOptions {
  opened: OpenedArchive;
  indexed: ReadonlyMap<string, IndexedSession>;
  links: Pick<Links, "facts">;
  /** See `SessionsTiming`. */
  retry: number;
  /** The files on disk. */
  files(): Iterable<SessionFile>;
  isOff(entry: SessionFile): boolean;
  isClosed(): boolean;
  run<Value>(entry: SessionFile, work: () => Value | Promise<Value>): Promise<Value | undefined>;
  /** See `UrgentWork.ended`. */
  urgentWork(): Promise<void> | undefined;
}

/** Creates the archive, and the queue of files whose bytes it does not have. */
export function createArchiving(options: ArchivingOptions) {
  const { indexed, links } = options;
  const archive = createArchiveWriter<SessionFile>({
    opened: options.opened,
    retry: options.retry,
    rowOf: storedFile,
    sessionRowOf(id) {
      const state = indexed.get(id);
      if (!state?.entry.identity || state.entry.sample) return undefined;
      const facts = links.facts(id);
      return {
        id,
        file_id: state.entry.id,
        summary: state.summary,
        open_calls: state.open_calls,
        ...(facts && { facts }),
      };
    },
    onLoss() {
      for (const entry of options.files()) if (entry.identity) backfill.add(entry);
    },
  });
  const backfill = createArchiveBackfill({
    archive,
    isClosed: options.isClosed,
    isArchivable: (entry: SessionFile) => !options.isOff(entry) && isArchivable(entry),
    run: options.run,
    urgentWork: options.urgentWork,
  });
  return { archive, backfill };
}
