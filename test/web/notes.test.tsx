import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { type NewNote, type NoteChange, newNote, noteChange } from "../../src/model/note.ts";
import { type Notes, withNotes } from "../../src/server/sessions/notes.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { createMemorySessions } from "../server/memory-sessions.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

const SESSION = uuidOf("noted");
const TEXT = uuidOf("text");
const common = { session_id: SESSION, at: 1_700_000_000_000 };
const FRAMES: Frame[] = [
  {
    ...common,
    type: "user.message",
    message_id: uuidOf("message"),
    part_id: uuidOf("prompt"),
    parts: [{ type: "text", text: "When is high water?" }],
  },
  { ...common, type: "message.start", message_id: uuidOf("answer") },
  { ...common, type: "message.part_start", part_id: TEXT, kind: "text" },
  { ...common, type: "message.part_end", part_id: TEXT, text: "At nine." },
  { ...common, type: "message.end", message_id: uuidOf("answer"), stop_reason: "stop" },
];

let daemon: TestDaemon;
let client: Client;
let notes: Notes;
/** The reply to the next change, which is then not made. */
let refusal: [number, unknown] | "lost" | undefined;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  refusal = undefined;
  const memory = createMemorySessions();
  const noted = withNotes({ sessions: memory, kept: [], store: { put() {}, remove() {} }, now: Date.now });
  notes = noted.notes;
  const { add, push, rewrite, remove, transcript } = memory;
  daemon = await startTestDaemon(Object.assign(noted.sessions, { add, push, rewrite, remove, transcript }));
  daemon.answer(async ({ route, body }) => {
    if (route === `GET /api/sessions/${SESSION}/notes`) return [200, { notes: notes.of(SESSION) }];
    const [, id, isDelete] = /^POST \/api\/notes\/([^/]+)(\/delete)?$/.exec(route) ?? [];
    const isNew = route === `POST /api/sessions/${SESSION}/notes`;
    if (id === undefined && !isNew) return undefined;
    if (refusal !== undefined && refusal !== "lost") return refusal;
    let reply: unknown = {};
    if (isNew) reply = { note: await notes.add(SESSION, newNote.parse(body) as NewNote) };
    else if (isDelete) notes.remove(id ?? "");
    else reply = { note: notes.change(id ?? "", noteChange.parse(body) as NoteChange) };
    return refusal ?? [200, reply];
  });
  client = clientOf(daemon);
  daemon.sessions.add(SESSION, FRAMES);
  history.replaceState(null, "", `/session/${SESSION}`);
  render(<App client={client} />);
  await screen.findByText("At nine.");
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const answerRow = () => screen.getByText("At nine.").closest("article") as HTMLElement;
const editor = (name: string) => screen.findByRole<HTMLTextAreaElement>("textbox", { name });

test("a note is written on a part by mouse, shown there, edited and deleted", async () => {
  await userEvent.click(within(answerRow()).getByRole("button", { name: /^Add a note to/ }));
  const field = await within(answerRow()).findByRole("textbox", { name: /^Note on/ });
  expect(document.activeElement).toBe(field);
  await userEvent.type(field, "Which harbour?");
  await userEvent.click(within(answerRow()).getByRole("button", { name: "Save" }));
  const note = await within(answerRow()).findByRole("note", { name: "Note" });
  expect(note.textContent).toContain("Which harbour?");
  expect(notes.of(SESSION)).toMatchObject([{ text: "Which harbour?", part: { id: TEXT } }]);
  await screen.findByRole("button", { name: "1 note" });

  await userEvent.click(within(note).getByRole("button", { name: "Edit" }));
  const edited = await editor("Edit the note");
  expect(edited.value).toBe("Which harbour?");
  await userEvent.type(edited, " Dover?{Control>}{Enter}{/Control}");
  await waitFor(() => expect(notes.of(SESSION)).toMatchObject([{ text: "Which harbour? Dover?" }]));
  const changed = await within(answerRow()).findByRole("note", { name: "Note" });
  expect(changed.textContent).toContain("edited");

  await userEvent.click(within(changed).getByRole("button", { name: "Delete" }));
  expect(notes.of(SESSION)).toHaveLength(1);
  await userEvent.click(within(changed).getByRole("button", { name: "Delete this note" }));
  await waitFor(() => expect(within(answerRow()).queryByRole("note")).toBeNull());
  expect(notes.of(SESSION)).toEqual([]);
  expect(document.activeElement).toBe(answerRow());
});

test("b opens a note on the focused part and Escape closes it; written text is not lost", async () => {
  answerRow().focus();
  await userEvent.keyboard("b");
  const field = await within(answerRow()).findByRole("textbox");
  expect(document.activeElement).toBe(field);
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(within(answerRow()).queryByRole("textbox")).toBeNull());
  expect(document.activeElement).toBe(answerRow());
  await userEvent.keyboard("b");
  await userEvent.type(await within(answerRow()).findByRole("textbox"), "Half a tho");
  await userEvent.keyboard("{Escape}");
  expect(within(answerRow()).getByRole<HTMLTextAreaElement>("textbox").value).toBe("Half a tho");
});

test("a note on the session is written and listed in the inspector, which links to parts with notes", async () => {
  await notes.add(SESSION, { note_id: uuidOf("one"), part_id: TEXT, text: "Which harbour?" });
  await userEvent.keyboard("{Shift>}B{/Shift}");
  const dialog = await screen.findByRole("dialog", { name: "Notes" });
  await userEvent.type(within(dialog).getByRole("textbox", { name: "Note on this session" }), "All of it");
  await userEvent.click(within(dialog).getByRole("button", { name: "Save" }));
  const list = within(dialog).getByRole("list", { name: "Notes of this session" });
  await waitFor(() => expect(within(list).getAllByRole("note")).toHaveLength(2));
  expect(within(list).getAllByRole("listitem")[0]?.textContent).toContain("On the session");
  expect(
    within(dialog).getByRole<HTMLTextAreaElement>("textbox", { name: "Note on this session" }).value,
  ).toBe("");
  await userEvent.click(within(list).getByRole("link", { name: "text: At nine." }));
  expect(location.hash).toBe(`#part-${TEXT}`);
});

test("changes of notes in another browser appear at once, also in the list", async () => {
  const { id } = await notes.add(SESSION, { note_id: uuidOf("one"), part_id: TEXT, text: "From a phone" });
  await within(answerRow()).findByText("From a phone");
  const [before] = notes.of(SESSION);
  notes.change(id, { text: "From a desk", changed_at: before?.changed_at ?? 0 });
  await within(answerRow()).findByText("From a desk");
  await userEvent.click(screen.getByRole("link", { name: "All sessions" }));
  const row = await waitFor(() => {
    const found = document.querySelector(`[data-session="${SESSION}"]`);
    expect(found?.textContent).toContain("1 note");
    return found;
  });
  notes.remove(id);
  await waitFor(() => expect(row?.textContent).not.toContain("note"));
});

test("an unsaved note stays in its field with the reason; a retry after a lost reply stores it once", async () => {
  await userEvent.click(within(answerRow()).getByRole("button", { name: /^Add a note to/ }));
  await userEvent.type(await within(answerRow()).findByRole("textbox"), "Keep me");
  refusal = [503, { error: { code: "disk", message: "The note could not be stored: no room." } }];
  await userEvent.click(within(answerRow()).getByRole("button", { name: "Save" }));
  expect((await within(answerRow()).findByRole("alert")).textContent).toContain("no room");
  refusal = "lost";
  await userEvent.click(within(answerRow()).getByRole("button", { name: "Save" }));
  await within(answerRow()).findByRole("alert");
  refusal = undefined;
  await userEvent.click(await within(answerRow()).findByRole("button", { name: "Save" }));
  await waitFor(() => expect(within(answerRow()).queryByRole("textbox")).toBeNull());
  expect(notes.of(SESSION).map(({ text }) => text)).toEqual(["Keep me"]);
});
