import { useEffect, useMemo, useRef, useState } from "react";
import { type FilteredParts, isShownBy, type PartFilter } from "../../../model/parts/part-filter.ts";
import type { RowSettings } from "../../../model/parts/quiet.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import type { RowFilter } from "./layout.ts";

/** So long after a session has grown its rows are counted again, in milliseconds. */
const GROWN_MS = 1_000;

/** A filter over a session's rows, while its bar is open. */
export interface SessionFilter {
  readonly isOpen: boolean;
  readonly filter: PartFilter;
  /** What the daemon counted last: of all parts, loaded or not. */
  readonly counted: FilteredParts | undefined;
  /** Why it could not count. */
  readonly failure: string | undefined;
  /** For the transcript; absent: everything is shown. */
  readonly rows: RowFilter | undefined;
  set(filter: PartFilter): void;
  open(): void;
  /** Shows everything again. */
  close(): void;
}

const NONE: PartFilter = {};

export function useFilter(session: OpenSession, settings: RowSettings): SessionFilter {
  const api = apiOf(useClient());
  const { showSteps, everyRecord = false } = settings;
  const [isOpen, setOpen] = useState(false);
  const [filter, setFilter] = useState<PartFilter>(NONE);
  const [reply, setReply] = useState<{ filter: PartFilter; counted: FilteredParts }>();
  const [failure, setFailure] = useState<string>();
  const length = useRef(-1);

  useEffect(() => {
    if (!isOpen) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = async (): Promise<void> => {
      const now = session.state.getState().transcript;
      length.current = now?.parts.length ?? 0;
      const found = await api.filter(session.id, filter, { showSteps, everyRecord }, abort.signal);
      timer = undefined;
      if (abort.signal.aborted) return;
      setFailure(found.ok ? undefined : failureText(found.failure));
      if (found.ok) setReply({ filter, counted: found.value });
    };
    void count();
    const end = session.state.subscribe(({ transcript }) => {
      if (timer !== undefined || (transcript?.parts.length ?? 0) === length.current) return;
      timer = setTimeout(() => void count(), GROWN_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, session, isOpen, filter, showSteps, everyRecord]);

  const isSet = Object.values(filter).some((values) => values !== undefined && values.length > 0);
  const hidden = reply?.filter === filter ? reply.counted.hidden : undefined;
  const key = JSON.stringify(hidden);
  const rows = useMemo<RowFilter | undefined>(() => {
    if (!isOpen || !isSet || hidden === undefined) return undefined;
    const positions = new Set<number>();
    for (const [from, to] of hidden) for (let index = from; index < to; index += 1) positions.add(index);
    return {
      hides: (index, part) => (part === undefined ? positions.has(index) : !isShownBy(filter, part)),
      hidden: positions,
    };
    // `key` stands for what is in `hidden`: the same counted again is no other filter.
  }, [isOpen, isSet, key, filter]);

  return {
    isOpen,
    filter,
    counted: reply?.counted,
    failure,
    rows,
    set: setFilter,
    open: () => setOpen(true),
    close() {
      setOpen(false);
      setFilter(NONE);
      setReply(undefined);
    },
  };
}
