import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createAcpAgent } from "../../src/agent/acp/acp-agent.ts";
import { type AcpProgram, listPastSessions, readPastSession } from "../../src/agent/acp/past-sessions.ts";
import type { Agent } from "../../src/agent/agent.ts";
import type { Answer, Request } from "../../src/model/request.ts";
import { type ActingHost, createHost } from "../agent/acp/acting-host.ts";
import { eventually } from "../eventually.ts";
import { configureAgents } from "./environment.ts";
import { installAgents } from "./installed-agents.ts";
import { type ModelServer, type Scenario, startModelServer } from "./model-server.ts";

const agents = installAgents();
const missing = "missing" in agents ? agents.missing : undefined;

/** `cwd`: the folder with `a.txt`. */
const scenarios = (cwd: string): Record<string, Scenario> => ({
  tour: [
    [
      { text: "Let me read the file and list the folder." },
      { tool: "read", input: { filePath: join(cwd, "a.txt") } },
      { tool: "bash", input: { command: "ls && wc -l a.txt", description: "List" } },
    ],
    [
      { text: "Now I change the greeting and look for a second file." },
      {
        tool: "edit",
        input: { filePath: join(cwd, "a.txt"), oldString: "hello world", newString: "hello there" },
      },
      { tool: "bash", input: { command: "cat does-not-exist.txt", description: "Look" } },
      { tool: "read", input: { filePath: join(cwd, "nowhere.txt") } },
    ],
  ],
  more: [[{ text: "Both are shown." }]],
  slow: [
    [{ tool: "bash", input: { command: "echo begun; sleep 600", description: "Wait", timeout: 700_000 } }],
  ],
  failure: [[{ status: 400 }]],
});

describe.skipIf(missing !== undefined)(
  `the real opencode over ACP${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    let home: string;
    let host: ActingHost;
    let open: Agent[] = [];
    let model: ModelServer;
    let answer: (request: Request, signal: AbortSignal) => Promise<Answer | undefined>;

    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), "verbatim-opencode-home-"));
      for (const folder of ["claude", "codex"]) mkdirSync(join(home, folder));
      answer = () => Promise.resolve({ option_ids: ["once"] });
      host = createHost((request, signal) => answer(request, signal));
      writeFileSync(join(host.cwd, "a.txt"), "hello world\n");
      model = await startModelServer(scenarios(host.cwd));
    });
    afterEach(async () => {
      for (const agent of open) await agent.close();
      open = [];
      model.close();
      host.remove();
      rmSync(home, { recursive: true, force: true });
    });

    function program(): AcpProgram {
      if ("missing" in agents) throw new Error(agents.missing);
      const folders = { path: home, claude: join(home, "claude"), codex: join(home, "codex") };
      return {
        command: agents.opencode,
        args: ["acp", "--cwd", host.cwd],
        env: configureAgents(folders, model.origin, host.cwd),
        label: "opencode",
      };
    }
    function start(): Agent {
      const agent = createAcpAgent({ host, ...program() });
      open.push(agent);
      return agent;
    }
    const ask = (agent: Agent, text: string, signal = new AbortController().signal) =>
      host.turn(text, (prompt) => agent.run(prompt, signal));
    const texts = () => host.parts().flatMap((part) => (part.type === "text" ? [part.text] : []));

    it("completes a turn, asks before each command, and continues in a new process", async () => {
      const agent = start();
      // The second command is refused, which ends opencode's turn.
      const options = ["once", "reject"];
      answer = () => Promise.resolve({ option_ids: [options.shift() ?? "once"] });
      expect(await ask(agent, "[[scenario:tour]] Explain a.txt")).toBe("completed");
      expect(host.violations).toEqual([]);
      expect(texts()).toEqual([
        "Let me read the file and list the folder.",
        "Now I change the greeting and look for a second file.",
      ]);
      expect(host.requests.map(({ subject }) => subject)).toEqual([
        "ls && wc -l a.txt",
        "cat does-not-exist.txt",
      ]);
      const calls = host.parts().flatMap((part) => (part.type === "tool_call" ? [part] : []));
      expect(calls.map(({ tool_name, state }) => [tool_name, state.status])).toEqual([
        ["read", "completed"],
        ["bash", "completed"],
        ["edit", "completed"],
        ["bash", "aborted"],
        ["read", "error"],
      ]);
      expect(readFileSync(join(host.cwd, "a.txt"), "utf8")).toBe("hello there\n");
      const edit = host.parts().find((part) => part.type === "tool_result" && part.ui_extra?.type === "diff");
      expect(edit).toMatchObject({ ui_extra: { files: [{ additions: 1, deletions: 1 }] } });
      const before = host.parts().length;

      await agent.close();
      expect(await ask(start(), "[[scenario:more]] And now show both files")).toBe("completed");
      const fresh = host.parts().slice(before);
      // Its history is not repeated, and it knew its session: no note says that it starts or has no memory.
      expect(fresh.filter((part) => part.type === "prompt")).toHaveLength(1);
      expect(fresh.some((part) => part.type === "marker" && /began|memory/.test(part.title))).toBe(false);
      expect(fresh.some((part) => part.type === "text")).toBe(true);
      expect(fresh.flatMap((part) => (part.type === "text" ? [part.text] : []))).not.toContain(
        "Let me read the file and list the folder.",
      );
    }, 240_000);

    it("lists its sessions, sends the history of one, and continues it", async () => {
      const first = start();
      expect(await ask(first, "[[scenario:more]] Explain it")).toBe("completed");
      expect(await ask(first, "[[scenario:tour]] Explain a.txt")).toBe("completed");
      await first.close();
      const { signal } = new AbortController();
      const { cwd } = host;
      const listed = await listPastSessions(program(), { folder: cwd, cwd }, signal);
      expect(listed).toMatchObject({ opens: "with_history", sessions: [{ cwd, title: expect.any(String) }] });
      const [session] = listed.sessions;
      expect(session?.updated_at).toBeGreaterThan(Date.now() - 600_000);
      const all = await listPastSessions(program(), { folder: home }, signal);
      expect(all.sessions.map(({ id }) => id)).toContain(session?.id);

      const before = host.parts();
      onTestFinished(host.remove);
      host = { ...createHost((request, signal) => answer(request, signal)), cwd };
      const options = { id: session?.id ?? "", cwd, session_id: host.session_id, is_inherited: true };
      for (const frame of await readPastSession(program(), options, signal)) host.emit(frame);
      expect(host.violations).toEqual([]);
      const textsOf = (parts: typeof before) =>
        parts.flatMap((part) => {
          if (part.type === "text") return [part.text];
          // In the history, opencode calls a command by its description, not by its tool.
          return part.type === "tool_call" ? [`${part.arguments_json} ${part.state.status}`] : [];
        });
      expect(textsOf(host.parts())).toEqual(textsOf(before));
      expect(Array.from(host.transcript().turns, (turn) => turn?.status)).toEqual(["completed", "completed"]);
      expect(host.parts().at(-1)).toMatchObject({ title: expect.stringContaining("sent the history above") });
      const history = host.parts().length;

      expect(await ask(start(), "[[scenario:more]] And now?")).toBe("completed");
      const fresh = host.parts().slice(history);
      expect(fresh.some((part) => part.type === "marker" && /began|memory/.test(part.title))).toBe(false);
      expect(textsOf(fresh)).toEqual(["Both are shown."]);
    }, 240_000);

    it("stops a running command, keeps its output, and accepts the next prompt", async () => {
      const agent = start();
      const stop = new AbortController();
      const turn = ask(agent, "[[scenario:slow]] Run the long command", stop.signal);
      await eventually(() => {
        const call = host.parts().find((part) => part.type === "tool_call");
        expect(call?.type === "tool_call" && call.progress).toContain("begun");
      }, 120_000);
      stop.abort();
      expect(await turn).toBe("interrupted");
      const result = host.parts().find((part) => part.type === "tool_result");
      expect(result).toMatchObject({ status: "aborted" });
      expect(result?.type === "tool_result" && result.output_text).toContain("begun");
      expect(host.parts().at(-1)).toMatchObject({ type: "marker", kind: "interrupt" });
      expect(await ask(agent, "[[scenario:failure]] Fail")).toBe("failed");
      expect(host.parts().at(-1)).toMatchObject({ kind: "error", title: expect.stringContaining("400") });
    }, 240_000);
  },
);
