import type { SnapshotRecord } from "../contract.ts";

/** A record of a session, and whether it is a prompt of a person. */
export interface OrderedRecord {
  record: SnapshotRecord;
  isPrompt: boolean;
}

/**
 * Adds the time of the last save to the records of an agent that stores no times of messages. It precedes the last prompt, because
 * that turn ended with the save. It follows the only prompt, whose time is that of the session's start. Messages that appear with
 * a later save follow it as well.
 */
export function* withSaveTime(
  records: readonly OrderedRecord[],
  saved: SnapshotRecord,
): Generator<SnapshotRecord> {
  const first = records.findIndex(({ isPrompt }) => isPrompt);
  const last = records.findLastIndex(({ isPrompt }) => isPrompt);
  const at = first === last ? first + 1 : last;
  for (const [index, { record }] of records.entries()) {
    if (index === at) yield saved;
    yield record;
  }
  if (at === records.length) yield saved;
}
