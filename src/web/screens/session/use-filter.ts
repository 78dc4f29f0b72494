import { useEffect, useMemo, useRef, useState } from "react";
import { type FilteredParts, isShownBy, type PartFilter } from "../../../model/parts/part-filter.ts";
import type { RowSettings } from "../../../model/parts/quiet.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import type { RowFilter } from "./layout.ts";

/** Delay between the growth of a session and the next count of its rows, in milliseconds. */
const GROWN_MS = 1_000;

/** The filter of a session's rows. Active while the filter bar is open. */
export interface SessionFilter {
  readonly isOpen: boolean;
  readonly filter: PartFilter;
  /** The daemon's last reply. Covers all parts, loaded or not. */
  readonly counted: FilteredParts | undefined;
  /** Why the last request failed. */
  readonly failure: string | undefined;
  /** The filter for the layout. `undefined`: all rows are shown. */
  readonly rows: RowFilter | undefined;
  set(filter: PartFilter): void;
  open(): void;
  /** Closes the bar and shows all rows again. */
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
    // `key` represents the contents of `hidden`: a reply with the same contents must not create a new filter.
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
