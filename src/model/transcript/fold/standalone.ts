import type { FrameOf } from "../../frames/frame.ts";
import { promptTitle, textOf, titleOf } from "../../parts/content.ts";
import { foldTitle } from "../../text/fold-titles.ts";
import { type TitleFields, titleFields } from "../../text/titles.ts";
import { partId } from "../../uuid.ts";
import { turnOfPart } from "../positions.ts";
import type { TranscriptPart } from "../transcript.ts";
import {
  append,
  changeTurn,
  commonOf,
  ensureTurn,
  type Fold,
  find,
  openTurn,
  ownId,
  replace,
  retractionOf,
} from "./fold.ts";
import { errorTitle, messageFor, renamed } from "./messages.ts";

// Frames that add one complete part: prompts, media, context, markers.

/** Adds a complete part, or replaces the one with the same id. */
function put(fold: Fold, frame: { part_index?: number }, part: TranscriptPart): void {
  const position = find(fold, part.id, frame);
  if (position === undefined) {
    append(fold, part);
    return;
  }
  fold.touched = position;
  const before = fold.parts.at(position);
  if (before?.type === part.type) {
    replace(fold, position, {
      ...part,
      message_id: before.message_id,
      ...(before.step === undefined ? {} : { step: before.step }),
      ...retractionOf(before),
      ...(part.source === undefined && before.source !== undefined ? { source: before.source } : {}),
    });
  }
}

/** Adds an image (by URL or file) or another file. A repeated frame replaces the part. */
export function putMedia(fold: Fold, frame: FrameOf<"message.image"> | FrameOf<"message.file">): void {
  const turn = ensureTurn(fold, frame.at, true);
  const message_id = messageFor(fold, turn, frame.message_id);
  const common = commonOf(fold, frame, frame.part_id, message_id);
  if (frame.type === "message.file") {
    const { mime, url, filename } = frame;
    const media = { type: "file" as const, mime, url, ...(filename === undefined ? {} : { filename }) };
    put(fold, frame, { ...common, type: "file", media });
  } else if (frame.file_path !== undefined) {
    const { file_path, mime_type, byte_size } = frame;
    const media = {
      type: "image_file" as const,
      file_path,
      ...(mime_type === undefined ? {} : { mime_type }),
      ...(byte_size === undefined ? {} : { byte_size }),
    };
    put(fold, frame, { ...common, type: "image", media });
  } else {
    put(fold, frame, { ...common, type: "image", media: { type: "image_url", url: frame.url ?? "" } });
  }
}

/**
 * Adds a prompt, which opens a turn unless it was queued in the last one. A repeated frame also changes the title of its turn.
 */
export function putPrompt(fold: Fold, frame: FrameOf<"user.message">): void {
  const id = frame.part_id ?? partId(frame.message_id, 0);
  const known = find(fold, id, frame);
  const title = promptTitle(frame.parts);
  if (known === undefined) {
    if (frame.queued === true) ensureTurn(fold, frame.at, false);
    else {
      enterTurn(fold, frame.message_id, frame.at, title);
      const prompt_index = fold.parts.length;
      changeTurn(fold, fold.turns.length - 1, (turn) => ({ prompt_index, ...turn }));
    }
  }
  put(fold, frame, {
    ...commonOf(fold, frame, id, frame.message_id),
    type: "prompt",
    parts: frame.parts,
    ...(frame.queued === undefined ? {} : { queued: frame.queued }),
    ...(frame.origin === undefined ? {} : { origin: frame.origin }),
  });
  if (known === undefined) return;
  const turn = fold.turns.at(turnOfPart(fold.turns, known));
  if (turn?.prompt_index === known && title !== undefined && turn.title !== title) {
    changeTurn(fold, turn.index, (current) => ({ ...current, title }));
  }
}

/** Opens a turn for a prompt, unless there is one that contains only injected context so far. */
function enterTurn(fold: Fold, id: string, at: number, title: string | undefined): void {
  const isWaiting = fold.open.turn_open && fold.open.awaits_prompt === true;
  if (!isWaiting) {
    openTurn(fold, id, at, title);
    return;
  }
  const { index } = ensureTurn(fold, at, true);
  if (title !== undefined) changeTurn(fold, index, (current) => ({ ...current, title }));
}

/** Adds a legacy message as one part. A user's message opens a turn, as a prompt does. */
export function putLegacy(fold: Fold, frame: FrameOf<"message.legacy">): void {
  const { message } = frame;
  const id = partId(message.id, 0);
  if (find(fold, id, frame) === undefined) {
    if (message.role === "user") enterTurn(fold, message.id, frame.at, titleOf(message.content));
    else ensureTurn(fold, frame.at, true);
  }
  put(fold, frame, {
    ...commonOf(fold, frame, id, message.id),
    type: "legacy",
    role: message.role,
    content: message.content,
    ...(message.thinking === undefined ? {} : { thinking: message.thinking }),
  });
}

/** Adds context for the model as a marker: its text, and its other parts as `data`. */
export function putContext(fold: Fold, frame: FrameOf<"developer.message">): void {
  ensureTurn(fold, frame.at, false);
  const text = textOf(frame.parts);
  const others = frame.parts.filter((part) => part.type !== "text");
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id ?? partId(frame.message_id, 0), frame.message_id),
    type: "marker",
    kind: "context",
    ...(frame.title === undefined
      ? titleFields(titleOf(text) ?? foldTitle("context"))
      : { title: frame.title, ...codeOf(frame) }),
    ...(text === "" ? {} : { text }),
    ...(others.length === 0 ? {} : { data: others }),
  });
}

export function putMarker(fold: Fold, frame: FrameOf<"marker">): void {
  ensureTurn(fold, frame.at, false);
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id, frame.message_id ?? frame.part_id),
    type: "marker",
    kind: frame.kind,
    title: frame.title,
    ...codeOf(frame),
    ...(frame.text === undefined ? {} : { text: frame.text }),
    ...(frame.text_code === undefined ? {} : { text_code: frame.text_code }),
    ...(frame.data === undefined ? {} : { data: frame.data }),
  });
}

/** Adds an error as a marker, with `can_retry` in its `data`. */
export function putError(fold: Fold, frame: FrameOf<"error">): void {
  const turn = ensureTurn(fold, frame.at, false);
  const id = frame.part_id ?? ownId(turn.id, fold.parts.length);
  const { truncated, ...origin } = frame;
  const named = errorTitle(frame.message, frame.title_code);
  const cut = renamed(truncated?.message === undefined ? undefined : { text: truncated.message }, "text");
  const more =
    frame.can_retry === undefined
      ? frame.data
      : { can_retry: frame.can_retry, ...(frame.data === undefined ? {} : { data: frame.data }) };
  put(fold, frame, {
    ...commonOf(fold, origin, id, id),
    ...(cut === undefined ? {} : { truncated: cut }),
    type: "marker",
    kind: "error",
    ...named,
    ...(frame.message === named.title ? {} : { text: frame.message }),
    ...(more === undefined ? {} : { data: more }),
  });
}

/** Handles `request.open` and `request.close`. A closed request stays closed: the first answer counts. */
export function putRequest(fold: Fold, frame: FrameOf<"request.open">): void {
  ensureTurn(fold, frame.at, false);
  const { request } = frame;
  const id = request.request_id;
  if (find(fold, id, frame) !== undefined) return;
  put(fold, frame, { ...commonOf(fold, frame, id, id), type: "request", request });
}

export function closeRequest(fold: Fold, frame: FrameOf<"request.close">): void {
  const position = find(fold, frame.request_id, frame);
  const part = position === undefined ? undefined : fold.parts.at(position);
  if (position === undefined || part?.type !== "request" || part.outcome !== undefined) return;
  fold.touched = position;
  replace(fold, position, {
    ...part,
    outcome: frame.outcome,
    ...(frame.answer === undefined ? {} : { answer: frame.answer }),
    closed_at: frame.at,
  });
}

export function putUnknown(fold: Fold, frame: FrameOf<"unknown">): void {
  ensureTurn(fold, frame.at, false);
  put(fold, frame, {
    ...commonOf(fold, frame, frame.part_id, frame.part_id),
    type: "unknown",
    raw: frame.raw,
    ...(frame.title === undefined ? {} : { title: frame.title }),
    ...codeOf(frame),
    ...(frame.error === undefined ? {} : { error: frame.error }),
  });
}

const codeOf = ({ title_code }: Pick<TitleFields, "title_code">): Pick<TitleFields, "title_code"> =>
  title_code === undefined ? {} : { title_code };
