import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionReply } from "../../src/protocol.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { eventually } from "../eventually.ts";
import { expectNoSecrets } from "../secrets.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/push-your-agent.md"), "utf8");

/** The commands of the document in order, each with its documented replies. */
function readBlocks(): { command: string; replies: unknown[] }[] {
  const blocks: { command: string; replies: unknown[] }[] = [];
  for (const [, language, text = ""] of page.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === "bash") blocks.push({ command: text, replies: [] });
    else if (language === "json") {
      const replies = text.trim().split("\n");
      blocks.at(-1)?.replies.push(...replies.map((line): unknown => JSON.parse(line)));
    }
  }
  return blocks;
}

const hasTools = spawnSync("bash", ["-c", "curl --version && date +%s"]).status === 0;

describe.skipIf(!hasTools)(
  `docs/push-your-agent.md${hasTools ? "" : " (skipped: there is no bash or no curl here)"}`,
  { timeout: 120_000 },
  () => {
    let home: string;
    let daemon: ChildProcess;
    let address: URL;
    let output: string;
    let environment: NodeJS.ProcessEnv;

    beforeAll(() => {
      // In a fresh clone, the first start builds the page and prints a notice.
      const { PATH, HOME } = process.env;
      const { status } = spawnSync("npm", ["start", "--silent", "--", "--version"], {
        cwd: root,
        env: { PATH, HOME },
      });
      expect(status).toBe(0);
    });
    beforeEach(async () => {
      home = mkdtempSync(join(tmpdir(), "verbatim-push-"));
      mkdirSync(join(home, "share"));
      const node = join(root, "node_modules/node/bin");
      environment = {
        PATH: `${node}:${process.env.PATH}`,
        HOME: home,
        USERPROFILE: home,
        XDG_DATA_HOME: join(home, "share"),
      };
      daemon = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT, "--port", "0", "--no-samples"],
        { env: environment, stdio: ["ignore", "pipe", "pipe"] },
      );
      output = "";
      for (const stream of [daemon.stdout, daemon.stderr])
        stream?.setEncoding("utf8").on("data", (text) => {
          output += text;
        });
      await eventually(() => expect(output).toMatch(/^http:\S+\n/m));
      address = new URL(/^http:\S+$/m.exec(output)?.[0] ?? "");
    });
    afterEach(async () => {
      const ended = new Promise((done) => daemon.once("close", done));
      daemon.kill();
      await ended;
      expectNoSecrets(output, join(home, "share/verbatim"));
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    });

    /** Runs all commands of the document in one shell in the project's folder. Returns the output of each. */
    async function runPage(commands: readonly string[]): Promise<string[]> {
      const script = [...commands, 'echo "$SESSION"']
        .map((command) => command.replace("http://127.0.0.1:4747", address.origin))
        .join("\nprintf '\\n--- next block ---\\n'\n");
      // Asynchronous, so that the daemon's output is read meanwhile.
      const shell = spawn("bash", ["-eu", "-o", "pipefail", "-c", script], {
        cwd: root,
        env: environment,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let out = "";
      let err = "";
      shell.stdout.setEncoding("utf8").on("data", (text) => {
        out += text;
      });
      shell.stderr.setEncoding("utf8").on("data", (text) => {
        err += text;
      });
      const code = await new Promise((done) => shell.once("close", done));
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return out.split("\n--- next block ---\n");
    }

    it("is correct: each command gets the documented reply, and creates the documented turns", async () => {
      const blocks = readBlocks();
      expect(blocks.length).toBeGreaterThan(9);
      const printed = await runPage(blocks.map(({ command }) => command));
      for (const [index, { command, replies }] of blocks.entries()) {
        // curl prints no newline after a reply.
        const given = (printed[index] ?? "").replaceAll("}{", "}\n{").split("\n");
        const parsed = given.filter((line) => line !== "").map((line): unknown => JSON.parse(line));
        expect(parsed, command).toEqual(replies);
      }

      const session = (printed.at(-1) ?? "").trim();
      const entered = await fetch(address, { redirect: "manual" });
      const [cookie = ""] = (entered.headers.getSetCookie()[0] ?? "").split(";");
      const reply = await fetch(new URL(`/api/sessions/${session}`, address), {
        headers: { cookie, "x-verbatim-client": "1" },
      });
      const { page: shown } = sessionReply.parse(await reply.json());
      expect(shown.session).toMatchObject({ agent: "my-agent", title: "My first push", model: "my-model" });
      expect(shown.turns.title?.map((title, at) => [title, shown.turns.status[at]])).toEqual([
        ["How many lines has a.txt?", "completed"],
        ["And b.txt?", "completed"],
        ["Is it cold in Oslo?", "completed"],
        ["And in Bergen?", "completed"],
        ["Say hello", "completed"],
      ]);
      const said = shown.parts.flatMap(({ part }) => {
        switch (part.type) {
          case "thinking":
            return [`thinking: ${part.thinking}`];
          case "text":
            return [`text: ${part.text}`];
          case "tool_call":
            return [`${part.tool_name}: ${part.state.status}`];
          case "tool_result":
            return [`result: ${part.output_text}`];
          case "legacy":
            return [`${part.role}: ${part.thinking ?? ""} ${part.content}`];
          default:
            return [];
        }
      });
      expect(said).toEqual([
        "thinking: I should count them.",
        "text: Let me count.",
        "shell: completed",
        "result: 12 a.txt\n",
        "text: It has **12** lines.",
        "text: I think of a title.",
        "text: It is empty.",
        "getWeather: completed",
        "result: -2 degrees",
        "text: Yes: -2 degrees.",
        "thinking: It rains there.",
        "text: No, it rains.",
        "user:  Say hello",
        "assistant: A greeting. Hello!",
      ]);
    });

    it("documents every error of a push, with its status", async () => {
      const rows = [...page.matchAll(/^\| (\d{3}) \| ([^|]+) \|/gm)].flatMap(([, status, codes = ""]) =>
        [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
      );
      const shell = spawnSync(process.execPath, [DAEMON_SCRIPT, "token"], {
        env: environment,
        encoding: "utf8",
      });
      const token = shell.stdout.trim();
      const session = "00000000-0000-4000-8000-0000000000aa";
      const push = async (body: string, path = session, bearer = token) => {
        const reply = await fetch(new URL(`/api/ingest/${path}`, address), {
          method: "POST",
          headers: { authorization: `Bearer ${bearer}` },
          body,
        });
        // The body is validated by the comparison.
        const { error } = (await reply.json()) as { error?: { code?: string } };
        return `${reply.status} ${error?.code}`;
      };
      const met = [
        await push("", session, "wrong"),
        await push('{"type": "start-step"}', "no-uuid?format=ai-sdk"),
        await push("", `${session}?format=morse`),
        await push('{"epoch": "e", "seq": 2, "at": 1, "type": "turn.end"}'),
        await push(`{"x": "${"x".repeat(9_000_000)}`),
        await push("nonsense"),
        await push(`{"deep": ${"[".repeat(1000)}${"]".repeat(1000)}}`),
        await push('{"at": 1, "type": "message.delta", "kind": "smell", "text": ""}'),
        await push('{"at": 1, "type": "turn.end", "session_id": "00000000-0000-4000-8000-0000000000bb"}'),
      ];
      for (const error of met) expect(rows).toContain(error);
      // The ingestion tests cover errors that need another sender, agent or source.
      const others = ["409 managed", "409 session_id", "409 replaced"];
      expect(rows.filter((row) => !met.includes(row))).toEqual(others);
    });
  },
);
