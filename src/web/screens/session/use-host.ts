import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { OUTPUT_PIECE } from "../../../model/parts/kept-output.ts";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { sessionHref } from "../../app/router.ts";
import { type Reading, saveReading } from "../../app/scroll-position.ts";
import { useClient, useRow, useSetting } from "../../app/store.ts";
import { ancestorsOf, useWaiting } from "../../app/waiting.ts";
import { failureText } from "../../text/failure-text.ts";
import { clockTime, shortDuration } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import type { AnswerDraft, Attachment, NotesHost, Outputs, TranscriptHost } from "../../transcript/host.ts";
import type { Inspected } from "./inspect/inspected.ts";

const SAVE_MS = 300;
const NEWLINE = 0x0a;
/** Number of whole outputs in the cache. Each may have `OUTPUT_PIECE` bytes. */
const MAX_OUTPUTS = 4;
/** Bytes at the start of an image in which its size is searched: metadata and colour profiles may precede it. */
const HEADER = 1024 * 1024;

/** The services and the state of the user that a screen provides for a transcript. */
interface ReadingHost {
  host: TranscriptHost;
  outputs: Outputs;
  setOpen(part_id: string, open: boolean): void;
  /** Opens or closes all parts; `undefined`: as in the settings. Discards manual choices. */
  setAllOpen(open: boolean | undefined): void;
  allOpen: boolean | undefined;
  /** Remembers the place, soon. */
  keepPlace(place: NonNullable<Reading["place"]>): void;
  /** The place that was kept last. */
  placeNow(): Reading["place"];
}

interface SessionFacts {
  /** The row of the session; one that has control is run by this daemon. */
  row: SessionSummary | undefined;
  /** Absent: prompts cannot be continued from. Stays the same. */
  goOnFrom?: ((prompt_id: string) => void) | undefined;
  /** Opens the inspector. Stays the same. */
  inspect(what: Inspected): void;
  notes: NotesHost | undefined;
}

/** `reading`: as it was when the screen came up. What follows is as it is now. */
export function useReadingHost(
  session: OpenSession,
  reading: Reading,
  { fragment, marked }: Pick<Reading, "fragment" | "marked">,
  { row, goOnFrom, inspect, notes }: SessionFacts,
): ReadingHost {
  const client = useClient();
  const api = apiOf(client);
  const session_id = session.id;
  const { started_at, cwd } = row ?? {};
  const is_managed = row?.control !== undefined;
  const waiting = row !== undefined && isWaiting(row);
  const [thinking] = useSetting("thinking");
  const [showSteps] = useSetting("showSteps");
  const [rows, setRows] = useSetting("rows");
  const everyRecord = rows === "every";
  const [times] = useSetting("times");
  const [{ allOpen, openedAtOnce }, setAll] = useState<{
    allOpen: boolean | undefined;
    openedAtOnce: number;
  }>({ allOpen: undefined, openedAtOnce: 0 });

  // Not a state: a row keeps its own, and the host that all rows share stays the same when one is opened.
  const kept = useRef<Reading>({ ...reading, fragment, marked });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const save = useCallback(() => {
    clearTimeout(timer.current);
    saveReading(session_id, kept.current);
  }, [session_id]);
  const saveSoon = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(save, SAVE_MS);
  }, [save]);
  useEffect(() => {
    kept.current = { ...kept.current, fragment, marked };
    saveSoon();
  }, [fragment, marked, saveSoon]);
  useEffect(() => {
    window.addEventListener("pagehide", save);
    return () => {
      window.removeEventListener("pagehide", save);
      save();
    };
  }, [save]);

  const attachments = useRef(new Map<string, Promise<Attachment>>());
  useEffect(() => {
    const loaded = attachments.current;
    return () => {
      for (const attachment of loaded.values())
        void attachment.then(
          ({ address }) => URL.revokeObjectURL(address),
          () => {},
        );
      loaded.clear();
    };
  }, []);

  const setOpen = useCallback(
    (part_id: string, open: boolean) => {
      kept.current = { ...kept.current, opened: new Map(kept.current.opened).set(part_id, open) };
      saveSoon();
    },
    [saveSoon],
  );
  const setAllOpen = useCallback(
    (open: boolean | undefined) => {
      kept.current = { ...kept.current, opened: new Map() };
      saveSoon();
      setAll(({ openedAtOnce }) => ({ allOpen: open, openedAtOnce: openedAtOnce + 1 }));
    },
    [saveSoon],
  );
  const keepPlace = useCallback(
    (place: NonNullable<Reading["place"]>) => {
      kept.current = { ...kept.current, place };
      saveSoon();
    },
    [saveSoon],
  );

  const placeNow = useCallback(() => kept.current.place, []);

  const [opened, setOpened] = useState<Outputs["opened"]>(new Map());
  const outputs = useMemo<Outputs>(
    () => ({
      opened,
      async open(part_id, starts, byte_size) {
        const from = starts.at(-1) ?? 0;
        const reply = await api.output(session_id, part_id, from);
        if (!reply.ok) throw new Error(failureText(reply.failure));
        const bytes = new Uint8Array(await reply.value.arrayBuffer());
        const isLast = bytes.length < OUTPUT_PIECE || from + bytes.length === byte_size;
        const length = isLast ? bytes.length : pieceLength(bytes);
        const text = new TextDecoder().decode(bytes.subarray(0, length));
        const piece = { text, starts, ...(isLast ? {} : { next: from + length }) };
        setOpened((before) => {
          const others = [...before].filter(([id]) => id !== part_id);
          return new Map([...others.slice(1 - MAX_OUTPUTS), [part_id, piece]]);
        });
      },
      close: (part_id) => setOpened((before) => new Map([...before].filter(([id]) => id !== part_id))),
    }),
    [api, session_id, opened],
  );

  const [answerDrafts] = useState(() => new Map<string, AnswerDraft>());
  const host = useMemo<TranscriptHost>(
    () => ({
      openState(part_id) {
        const chosen = kept.current.opened.get(part_id);
        if (chosen !== undefined || allOpen === undefined) return chosen;
        const { transcript } = session.state.getState();
        const index = transcript === undefined ? undefined : positionOf(transcript, part_id);
        const part = index === undefined ? undefined : transcript?.parts.at(index);
        // Not the prompts, which are headings, nor the raw records, which have names of their own.
        return part === undefined || part.type === "prompt" ? undefined : allOpen;
      },
      setOpen,
      openedAtOnce,
      loadParts: (from, to) => session.load(from, to),
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
      loadAttachment(reference) {
        const known = attachments.current.get(reference);
        if (known !== undefined) return known;
        const [, part_id, n] = /^attachment:(.+):(\d+)$/.exec(reference) ?? [];
        if (part_id === undefined) return Promise.reject(new Error(t.media.noAttachment(reference)));
        const attachment = api.attachment(session_id, part_id, Number(n)).then((reply) => {
          if (reply.ok) return attachmentOf(reply.value);
          attachments.current.delete(reference);
          throw new Error(failureText(reply.failure));
        });
        attachments.current.set(reference, attachment);
        return attachment;
      },
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
      ...(goOnFrom === undefined ? {} : { goOnFrom }),
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
      openedAtOnce,
      setOpen,
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
      answerDrafts,
      goOnFrom,
      inspect,
      outputs,
      notes,
    ],
  );
  return { host, outputs, setOpen, setAllOpen, allOpen, keepPlace, placeNow };
}

/** So many of a piece's bytes as are whole lines or, where these are the lesser half, whole characters. */
function pieceLength(bytes: Uint8Array): number {
  const lines = bytes.lastIndexOf(NEWLINE) + 1;
  if (lines > bytes.length / 2) return lines;
  // Continuation bytes of UTF-8 are 0b10xxxxxx.
  return bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
}

async function attachmentOf(blob: Blob): Promise<Attachment> {
  const { imageSize } = await import("../../../model/image-size.ts");
  const size = imageSize(new Uint8Array(await blob.slice(0, HEADER).arrayBuffer()));
  return {
    address: URL.createObjectURL(blob),
    byte_size: blob.size,
    ...(size === undefined ? {} : { pixels: size.width * size.height }),
  };
}
