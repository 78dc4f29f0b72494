import { render, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Request } from "../../src/model/request.ts";
import { daemonText } from "../../src/model/text/daemon-texts.ts";
import { textFields } from "../../src/model/text/display-text.ts";
import { requestText } from "../../src/model/text/request-texts.ts";
import type { TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import { errorOf } from "../../src/server/sessions/refused.ts";
import { noticeOf } from "../../src/store/contract.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { loadText } from "../../src/web/text/text.ts";
import { TurnTranscript } from "../../src/web/transcript/TurnTranscript.tsx";
import { call, hostOf, marker, text, turnOf } from "../build.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

// Text of agents and people is Greek here, so every Latin word on the page is the page's own, or a name.

const uuid = (number: number): string => `00000000-0000-4000-a000-${String(number).padStart(12, "0")}`;
const SESSION = uuid(1);
const RUN = uuid(2);
const FAILED = uuid(3);
const RUNNING = uuid(4);
const at = Date.now() - 90_000;

/** Names, commands, keys and units, which are the same in every language. */
const NAMES =
  /\b(?:Verbatim|English|token|tokens|npm|start|PATH|Shell|CSV|Enter|Shift|Alt|Ctrl|Esc|PageDown|PageUp|Home|End|https?|kind|thought|tool|Bash|cmd|exec_command|status|failed|after|project|you|file|json|SHA|[0-9a-f]{64})\b|\/\S+/gi;

/** Latin words in visible text and in accessible names. */
function latinWords(root: Element): string[] {
  const found: string[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  // Roles and kinds of messages are written as the provider's interface has them.
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    if (node.parentElement?.closest(".context-kind") === null) found.push(node.nodeValue ?? "");
  for (const element of root.querySelectorAll("*"))
    for (const name of ["aria-label", "aria-description", "title", "placeholder", "alt"])
      found.push(element.getAttribute(name) ?? "");
  return found.filter((text) => /[a-z]{2}/i.test(text.replaceAll(NAMES, "")));
}

const message = (session_id: string, first: number, frames: object[]): Frame[] =>
  [
    { type: "message.start", message_id: uuid(first), model: "μοντέλο" },
    ...frames,
    {
      type: "message.end",
      message_id: uuid(first),
      stop_reason: "tool_use",
      usage: { input: 900, output: 90, cache_read: 800, cache_write: 0 },
    },
  ].map((frame) => ({ session_id, at, ...frame }) as Frame);

const FRAMES: Frame[] = [
  ...[
    { type: "turn.start", turn_id: uuid(90) },
    {
      type: "user.message",
      message_id: uuid(100),
      part_id: uuid(101),
      parts: [{ type: "text", text: "Ξεκίνα" }],
    },
  ].map((frame) => ({ session_id: SESSION, at, ...frame }) as Frame),
  ...message(SESSION, 110, [
    { type: "message.part_start", part_id: uuid(111), kind: "thinking" },
    { type: "message.part_end", part_id: uuid(111), text: "Σκέψη" },
    { type: "message.part_start", part_id: uuid(112), kind: "thinking" },
    { type: "message.part_end", part_id: uuid(112), hidden: "encrypted" },
    {
      type: "message.tool_call",
      tool_call_id: "κλήση",
      tool_name: "exec_command",
      arguments_json: JSON.stringify({ cmd: "λίστα" }),
      part_id: uuid(113),
    },
  ]),
  ...[
    {
      type: "message.tool_result",
      tool_call_id: "κλήση",
      is_error: true,
      status: "error",
      output_text: Array.from({ length: 80 }, (_, line) => `γραμμή ${line}`).join("\n"),
      parts: [],
      part_id: uuid(114),
    },
    { type: "marker", part_id: uuid(115), kind: "hook", title: "Άγκιστρο", text: "Κείμενο" },
    {
      type: "marker",
      part_id: uuid(131),
      kind: "note",
      title: "Permission mode: σχέδιο",
      title_code: { code: "permission_mode", params: { mode: "σχέδιο" } },
    },
    {
      type: "marker",
      part_id: uuid(132),
      kind: "note",
      title: "Τίτλος",
      // A program pushed a known code without its parameters.
      title_code: { code: "injected_texts" },
    },
    { type: "unknown", part_id: uuid(116), raw: { κλειδί: 1 } },
    {
      type: "user.message",
      message_id: uuid(117),
      part_id: uuid(118),
      parts: [{ type: "text", text: "Και αυτό" }],
      queued: true,
    },
    { type: "error", part_id: uuid(119), message: "Λάθος" },
  ].map((frame) => ({ session_id: SESSION, at, ...frame }) as Frame),
];

let daemon: TestDaemon;
let client: Client;

beforeAll(async () => {
  document.documentElement.lang = "zh-CN";
  await loadText();
});
afterAll(() => {
  document.documentElement.lang = "en";
});
beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  Element.prototype.scrollIntoView = () => {};
  const row = { agent: "πράκτορας", agent_name: "Πράκτορας", agent_version: "1", model: "μοντέλο" };
  const sessions = sessionsWith({
    [SESSION]: {
      ...row,
      title: "Πρώτη",
      cwd: "/έργο",
      status: "completed",
      runs: 1,
      errors: 1,
      archived: true,
    },
    [RUN]: {
      ...row,
      run: { name: "Βοηθός", task: "Ψάξε" },
      parent: { session_id: SESSION, tool_call_id: "κλήση" },
      status: "running",
      waiting: { for: "permission prompt", since: at },
    },
    [FAILED]: { ...row, title: "Δεύτερη", status: "failed", sample: true },
    [RUNNING]: { ...row, title: "Τρίτη", status: "running", activity: "thinking", scripted: true },
  });
  sessions.add(SESSION, FRAMES);
  sessions.add(RUN, [{ ...FRAMES[1], session_id: RUN } as Frame]);
  sessions.add(RUNNING, [{ ...FRAMES[1], session_id: RUNNING } as Frame]);
  sessions.add(FAILED, [{ ...FRAMES[1], session_id: FAILED } as Frame]);
  daemon = await startTestDaemon(sessions);
  daemon.answer(({ route }) => {
    if (route === "GET /api/attach") return [200, { agents: [] }];
    if (route === "GET /api/answer-passphrase") return [200, { is_set: false }];
    if (route === "GET /api/sources")
      return [
        200,
        {
          agents: [
            { agent: "a", name: "Άλφα", is_on: true, sessions: 3, read_at: at, folders: [], problems: [] },
            { agent: "b", name: "Βήτα", is_on: false, sessions: 0, folders: [], problems: [] },
          ],
        },
      ];
    if (route.startsWith("GET /api/search"))
      return [
        200,
        {
          hits: [
            {
              session: {
                id: SESSION,
                agent: "πράκτορας",
                title: "Πρώτη",
                status: "completed",
                last_activity_at: at,
                is_run: false,
              },
              part: { id: uuid(114), kind: "output", by: "tool", turn: 1 },
              snippet: { text: "γραμμή", ranges: [] },
            },
          ],
          sessions: 3,
          searched: 2,
          not_indexed: 1,
          cut_parts: 1,
          took_ms: 1,
        },
      ];
    return undefined;
  });
  client = clientOf(daemon);
});
afterEach(async () => {
  history.replaceState(null, "", "/");
  client.close();
  await daemon.close();
});

const show = (path: string): Element => {
  history.replaceState(null, "", path);
  return render(<App client={client} />).container;
};

test("the list of sessions", async () => {
  const page = show("/");
  await screen.findByRole("button", { name: "设置" });
  await screen.findAllByText("Πρώτη");
  expect(latinWords(page)).toEqual([]);
  expect(document.title).toBe("(1) Verbatim：1 个运行中");
});

test("a session with all parts open", async () => {
  const page = show(`/session/${SESSION}`);
  await screen.findByText("Λάθος");
  await userEvent.keyboard("x");
  await userEvent.click(screen.getByRole("button", { name: "筛选" }));
  await userEvent.click(screen.getByRole("button", { name: "查找" }));
  expect(screen.getByText("权限模式：σχέδιο")).toBeDefined();
  expect(screen.getByText("Τίτλος")).toBeDefined();
  expect(latinWords(page)).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "检查" }));
  const inspector = await screen.findByRole("dialog");
  for (const tab of within(inspector).getAllByRole("tab")) {
    await userEvent.click(tab);
    expect(latinWords(inspector)).toEqual([]);
  }
});

test("the settings and the keys", async () => {
  show("/");
  await userEvent.click(await screen.findByRole("button", { name: "设置" }));
  const settings = await screen.findByRole("dialog", { name: "设置" });
  await within(settings).findByRole("group", { name: "语言" });
  await within(settings).findByText("Άλφα");
  expect(latinWords(settings)).toEqual([]);
  await userEvent.click(within(settings).getByRole("button", { name: "关闭" }));
  await userEvent.keyboard("?");
  const keys = await screen.findByRole("dialog", { name: "键盘快捷键" });
  expect(latinWords(keys)).toEqual([]);
});

test("an error of the daemon, with its remedy", () => {
  const error = {
    ...marker("error", "The connection to the provider failed: α", {
      data: {
        can_retry: true,
        data: { remedy: "Send a prompt to continue.", remedy_code: { code: "send_prompt_to_continue" } },
      },
    }),
    title_code: { code: "connection_failed", params: { reason: "α\nβ" } },
  };
  render(<TurnTranscript turn={turnOf([error])} partAt={() => error} host={hostOf()} />);
  expect(screen.getByText(/^与提供商/).textContent).toBe("与提供商的连接失败：α。 发送提示词即可继续。");
});

test("why parts were withdrawn or stopped, and the texts below markers", async () => {
  const parts = [
    text("", {
      open: true,
      retracted: "undone in opencode",
      retracted_code: { code: "undone_in", params: { agent: "opencode" } },
    }),
    text("Λόγια", { retracted: "Δεν θέλω", retracted_code: { code: "unknown_code" } }),
    marker("interrupt", "Stopped by the user", {
      text: "stopped by the user",
      title_code: { code: "stopped_by_user" },
    }),
    marker("retry", "Δοκιμή", {
      text: "The model's answer is empty\nΛεπτομέρεια",
      text_code: { code: "answer_empty" },
    }),
    marker("error", "The model's answer is empty", {
      text: "The model's answer is empty\nΛάθος",
      title_code: { code: "answer_empty" },
    }),
    marker("interrupt", "Ο χρήστης", { text: "Stopped by the user" }),
    call(
      "Bash",
      { command: "λίστα" },
      {
        state: {
          status: "aborted",
          input: {},
          time: { start: at, end: at },
          outcome: {
            kind: "stopped",
            reason: "The agent interrupted the command",
            reason_code: { code: "command_interrupted" },
          },
        },
      },
    ),
  ];
  const host = hostOf();
  const turn = turnOf(parts, {
    retracted: "undone by the user",
    retracted_code: { code: "undone_by_user" },
  });
  const { container } = render(<TurnTranscript turn={turn} partAt={(at) => parts[at]} host={host} />);
  expect(screen.getByText(/被用户撤销/)).toBeDefined();
  expect(screen.getByRole("button", { name: "已撤回 已在 opencode 中撤销" })).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: /Λόγια/ }));
  expect(screen.getByText(/Δεν θέλω/)).toBeDefined();
  for (const summary of container.querySelectorAll("summary")) await userEvent.click(summary);
  const details = [...container.querySelectorAll("details p")].map(({ textContent }) => textContent);
  expect(details).toEqual([
    "被用户停止",
    "模型的回答为空\nΛεπτομέρεια",
    "模型的回答为空\nΛάθος",
    "Stopped by the user",
    "智能体中断了此命令",
  ]);
});

test("requests to the user", async () => {
  const request = (number: number, given: Partial<Request>): TranscriptPartOf<"request"> => ({
    type: "request",
    id: uuid(number),
    session_id: SESSION,
    message_id: uuid(number),
    request: { request_id: uuid(number), kind: "question", title: "Τίτλος", options: [], ...given },
  });
  const parts = [
    request(201, {
      kind: "approval",
      title: "Allow Bash: λίστα",
      title_code: { code: "allow_call", params: { tool: "Bash", call: "λίστα" } },
      subject: "λίστα",
      options: [
        { id: "a", label: "Allow", kind: "allow_once" },
        {
          id: "b",
          label: "Allow, and always allow Bash",
          label_code: { code: "always_allow", params: { rules: "Bash" } },
          kind: "allow_always",
        },
        {
          id: "c",
          label: "Deny",
          description: "Stops the turn.",
          description_code: { code: "stops_turn" },
          kind: "reject_once",
        },
      ],
    }),
    request(202, {
      title: "The agent asks for information (1 of 2): Όνομα",
      title_code: { code: "form_field", params: { at: 1, of: 2, label: "Όνομα" } },
      subject: "Enter a number.\nΠεριγραφή",
      subject_code: { code: "enter_number" },
      options: [
        { id: "a", label: "Leave empty", label_code: { code: "option_leave_empty" } },
        { id: "b", label: "Ναι", description: "Default", description_code: { code: "option_default" } },
        // An agent's own label, which is one of the standard labels of approvals.
        { id: "c", label: "Approve" },
      ],
    }),
  ];
  const host = hostOf({
    answerRequest: async (_, body) => ({ outcome: "answered", answer: body.answer }),
    answerDrafts: new Map(),
  });
  render(<TurnTranscript turn={turnOf(parts)} partAt={(at) => parts[at]} host={host} />);
  const approval = await screen.findByRole("region", { name: "审批：允许 Bash：λίστα" });
  expect(
    within(approval)
      .getAllByRole("button")
      .map(({ textContent }) => textContent),
  ).toEqual(["允许Y", "允许，并始终允许 BashA", "拒绝N"]);
  expect(within(approval).getByRole("button", { name: /^拒绝/ }).title).toBe("停止本轮。");
  const form = await screen.findByRole("form", { name: "问题：智能体需要一些信息（1 / 2）：Όνομα" });
  expect(within(form).getByText(/^请输入数字。/).textContent).toBe("请输入数字。\nΠεριγραφή");
  expect(
    within(form)
      .getAllByRole("radio")
      .map((radio) => radio.closest("label")?.textContent),
  ).toEqual(["留空", "Ναι 默认值", "Approve"]);
});

test("what an answer allows and what was allowed are shown as they were sent, whatever their codes say", async () => {
  const rules = `Bash(${"α".repeat(500)})`;
  const code = { code: "agent_failed" };
  const asked = (number: number, rest: object): TranscriptPartOf<"request"> => ({
    type: "request",
    id: uuid(number),
    session_id: SESSION,
    message_id: uuid(number),
    request: {
      request_id: uuid(number),
      kind: "approval",
      title: "Τίτλος",
      subject: "rm -r γάμμα",
      subject_code: code,
      options: [
        {
          id: "a",
          ...textFields("label", requestText("always_allow", { rules })),
          kind: "allow_always",
        },
      ],
    },
    ...rest,
  });
  const parts = [asked(211, {}), asked(212, { outcome: "answered", answer: { option_ids: ["a"] } })];
  const host = hostOf({
    answerRequest: async (_, body) => ({ outcome: "answered", answer: body.answer }),
    answerDrafts: new Map(),
  });
  const { container } = render(
    <TurnTranscript turn={turnOf(parts)} partAt={(at) => parts[at]} host={host} />,
  );
  const approval = await screen.findByRole("region", { name: /Τίτλος/ });
  expect(within(approval).getByRole("button").textContent).toContain(rules);
  expect(approval.textContent).toContain("rm -r γάμμα");
  for (const summary of container.querySelectorAll("summary")) await userEvent.click(summary);
  expect(await screen.findAllByText(/rm -r γάμμα/)).toHaveLength(2);
});

test("a search over all sessions", async () => {
  const page = show("/search?q=γραμμή");
  await screen.findByRole("option", { name: /Πρώτη/ });
  expect(latinWords(page)).toEqual([]);
  expect(page.textContent).toContain("已搜索 2 / 3 个会话");
});

test("a notice and an error of the daemon, with what the user can do", async () => {
  const notice = noticeOf(
    "warning",
    daemonText("store_taken", { folder: "/φ", store: "archive", pid: 7 }),
    daemonText("use_running_one"),
  );
  const status = { version: "1", instance: "1", index: { done: true }, roots: [] };
  daemon.answer(({ route }) => {
    if (route === "GET /api/status") return [200, { ...status, notices: [notice] }];
    if (route === "GET /api/rules")
      return [503, { error: errorOf("disk", daemonText("not_on_disk"), daemonText("free_space")) }];
    return undefined;
  });
  const { container, unmount } = render(<App client={client} />);
  await screen.findByText(
    "另一个 Verbatim（进程 7）正在使用数据目录 /φ。此守护进程会显示全部内容，但不归档。",
  );
  expect(latinWords(container)).toEqual([expect.stringContaining("--data-dir")]);
  unmount();
  show("/rules");
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain(
    "更改尚未写入磁盘：数据目录无法写入。请释放磁盘空间，之后更改就会保存。",
  );
  expect(latinWords(alert)).toEqual([]);
});
