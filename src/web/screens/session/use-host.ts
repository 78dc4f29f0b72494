import { useCallback, useMemo, useState } from "react";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { type Api, apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { sessionHref } from "../../app/router.ts";
import type { Reading } from "../../app/scroll-position.ts";
import { useClient, useRow, useSetting } from "../../app/store.ts";
import { ancestorsOf, useWaiting } from "../../app/waiting.ts";
import { failureText } from "../../text/failure-text.ts";
import { clockTime, shortDuration } from "../../text/format.ts";
import type { AnswerDraft, NotesHost, Outputs, TranscriptHost } from "../../transcript/host.ts";
import type { Inspected } from "./inspect/inspected.ts";
import { useAttachments } from "./use-attachments.ts";
import { useOutputs } from "./use-outputs.ts";
import { useSavedReading } from "./use-saved-reading.ts";

/** The host that a screen provides for a transcript, and the state behind it. */
interface ReadingHost {
  host: TranscriptHost;
  outputs: Outputs;
  setOpen(part_id: string, open: boolean): void;
  /** Expands or collapses all parts. `undefined`: as in the settings. Discards the user's individual choices. */
  setAllOpen(open: boolean | undefined): void;
  allOpen: boolean | undefined;
  /** Saves the scroll position after a short delay. */
  savePlace(place: NonNullable<Reading["place"]>): void;
  /** The last scroll position. */
  placeNow(): Reading["place"];
}

interface SessionFacts {
  /** The row of the session. It has `control` if the session is managed. */
  row: SessionSummary | undefined;
  /** Continues from an earlier prompt. Absent: not possible in this session. Must be stable. */
  branchFrom?: ((prompt_id: string) => void) | undefined;
  /** Opens the inspector. Must be stable. */
  inspect(what: Inspected): void;
  notes: NotesHost | undefined;
}

/** The calls that wait for an answer. The same set until it changes, because every row of the transcript depends on it. */
function useWaitingCalls(row: SessionSummary | undefined): ReadonlySet<string> {
  const ids = (row?.requests ?? []).flatMap(({ tool_call_id }) => tool_call_id ?? []).join("\n");
  return useMemo(() => new Set(ids === "" ? [] : ids.split("\n")), [ids]);
}

/** `reading`: what was stored when the screen was mounted. The arguments after it are current values. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one object that all rows share: its members are short, and depend on one list of values
export function useReadingHost(
  session: OpenSession,
  reading: Reading,
  { fragment, marked }: Pick<Reading, "fragment" | "marked">,
  { row, branchFrom, inspect, notes }: SessionFacts,
): ReadingHost {
  const client = useClient();
  const api = apiOf(client);
  const session_id = session.id;
  const { started_at, cwd } = row ?? {};
  const is_managed = row?.control !== undefined;
  const waiting = row !== undefined && isWaiting(row);
  const waitingCalls = useWaitingCalls(row);
  const [thinking] = useSetting("thinking");
  const [showSteps] = useSetting("showSteps");
  const [rows, setRows] = useSetting("rows");
  const everyRecord = rows === "every";
  const [times] = useSetting("times");
  const [{ allOpen, allToggles }, setAll] = useState<{
    allOpen: boolean | undefined;
    allToggles: number;
  }>({ allOpen: undefined, allToggles: 0 });

  const { saved, saveSoon } = useSavedReading(session_id, reading, { fragment, marked });
  const loadAttachment = useAttachments(api, session_id);
  const setOpen = useCallback(
    (part_id: string, open: boolean) =>
      saveSoon({ opened: new Map(saved.current.opened).set(part_id, open) }),
    [saved, saveSoon],
  );
  const setAllOpen = useCallback(
    (open: boolean | undefined) => {
      saveSoon({ opened: new Map() });
      setAll(({ allToggles }) => ({ allOpen: open, allToggles: allToggles + 1 }));
    },
    [saveSoon],
  );
  const savePlace = useCallback((place: NonNullable<Reading["place"]>) => saveSoon({ place }), [saveSoon]);
  const placeNow = useCallback(() => saved.current.place, [saved]);

  const outputs = useOutputs(api, session_id);
  const [answerDrafts] = useState(() => new Map<string, AnswerDraft>());
  const host = useMemo<TranscriptHost>(
    () => ({
      openState(part_id) {
        const chosen = saved.current.opened.get(part_id);
        if (chosen !== undefined || allOpen === undefined) return chosen;
        return opensWithAll(session, part_id) ? allOpen : undefined;
      },
      setOpen,
      allToggles,
      loadParts: (from, to) => session.load(from, to),
      ...loadersOf(api, session_id),
      loadAttachment,
      outputs,
      ...(notes === undefined ? {} : { notes }),
      useRun: (id: string): SessionSummary | undefined => useRow(id),
      useWaitBelow(id: string) {
        const waiting = useWaiting();
        const { byId } = client.rows.getState();
        const first = waiting.find(({ row }) => ancestorsOf(byId, row).includes(id));
        return first && { title: first.title, href: first.href };
      },
      waiting,
      waitingCalls,
      ...(is_managed
        ? {
            is_managed,
            answerDrafts,
            async answerRequest(request_id, body) {
              const reply = await api.answer(session_id, request_id, body);
              if (!reply.ok) throw new Error(failureText(reply.failure));
              return reply.value;
            },
          }
        : {}),
      ...(branchFrom === undefined ? {} : { branchFrom }),
      showChanges: (turn) => inspect({ view: "changes", turn }),
      showFigures: (turn) => inspect({ view: "figures", turn }),
      showContext: (part) => inspect({ view: "context", which: { part } }),
      partHref: (part_id) => sessionHref(session_id, `part-${part_id}`),
      runHref: (id) => sessionHref(id),
      ...(cwd === undefined ? {} : { cwd }),
      thinking,
      showSteps,
      everyRecord,
      showEveryRecord: () => setRows("every"),
      formatTime: (at) =>
        times === "elapsed" && started_at !== undefined
          ? `+${shortDuration(Math.max(0, at - started_at))}`
          : clockTime(at),
    }),
    [
      allOpen,
      allToggles,
      saved,
      setOpen,
      loadAttachment,
      api,
      session,
      session_id,
      thinking,
      showSteps,
      everyRecord,
      times,
      started_at,
      cwd,
      is_managed,
      waiting,
      waitingCalls,
      answerDrafts,
      branchFrom,
      inspect,
      outputs,
      notes,
    ],
  );
  return { host, outputs, setOpen, setAllOpen, allOpen, savePlace, placeNow };
}

/** Whether expanding or collapsing all parts includes this one. */
function opensWithAll(session: OpenSession, part_id: string): boolean {
  const { transcript } = session.state.getState();
  const index = transcript === undefined ? undefined : positionOf(transcript, part_id);
  const part = index === undefined ? undefined : transcript?.parts.at(index);
  // Excludes prompts, which are headings, and raw records, whose ids are not those of parts.
  return part !== undefined && part.type !== "prompt";
}

/** Loads what is not part of the transcript: untruncated parts and raw records. */
function loadersOf(api: Api, session_id: string): Pick<TranscriptHost, "loadWhole" | "loadRaw"> {
  return {
    async loadWhole(part_id) {
      const reply = await api.whole(session_id, part_id);
      if (!reply.ok) throw new Error(failureText(reply.failure));
      return reply.value.part;
    },
    async loadRaw(part_id) {
      const reply = await api.raw(session_id, part_id);
      if (!reply.ok) throw new Error(failureText(reply.failure));
      return reply.value;
    },
  };
}
