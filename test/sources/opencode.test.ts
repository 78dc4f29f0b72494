import { expect, it } from "vitest";
import { formats } from "../../src/sources/index.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { entryLine, headerLine } from "../../src/sources/record-log/log-line.ts";
import { accountOf } from "./account.ts";

const place = { kind: "row" as const, file: "/data/opencode.db", table: "message", key: "1" };
const entry = (key: string, revision: string, value: object): string =>
  entryLine({ key, revision, place, text: JSON.stringify(value) });
const message = (number: number): string =>
  entry(`message:msg_${number}`, "1", { id: `msg_${number}`, data: { role: "assistant" } });
const finish = (number: number, output: number): string =>
  entry(`finish:msg_${number}`, `${output}`, {
    finish: "tool-calls",
    tokens: { input: 1, output, reasoning: 0, cache: { read: 0, write: 0 } },
  });

it("revises the tokens of a step long after it, without ending the running one", () => {
  const header = headerLine({ agent: "opencode", session: "ses_1", file: "/data/opencode.db" });
  const steps = Array.from({ length: 100 }, (_, at) => [message(at), finish(at, 5)]).flat();
  const reader = formats.find(({ id }) => id === "opencode")?.createReader({ path: "ses_1.records.jsonl" });
  const read = (lines: string[]) =>
    reader?.push(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  read([header, ...steps, message(100)]);
  const frames = read([finish(0, 9)])?.flatMap((record) => record.frames);
  expect(frames).toMatchObject([{ type: "message.end", usage: { output: 9 } }]);
});

it("notes each switch of the agent with the prompt that it answers", () => {
  const prompt = (number: number, agent: string): string[] => [
    entry(`message:msg_${number}`, "1", { id: `msg_${number}`, data: { role: "user", agent } }),
    entry(`part:prt_${number}`, "1", {
      id: `prt_${number}`,
      messageID: `msg_${number}`,
      data: { type: "text", text: `Prompt ${number}` },
    }),
  ];
  const { parts } = accountOf(openCode, "ses_1.records.jsonl", [
    headerLine({ agent: "opencode", session: "ses_1", file: "/data/opencode.db" }),
    ...["build", "plan", "plan", "build"].flatMap((agent, number) => prompt(number, agent)),
  ]);
  const lines = parts.flatMap((part) => {
    if (part.type === "prompt")
      return part.parts.map((each) => (each.type === "text" ? each.text : each.type));
    return part.type === "marker" ? part.title : [];
  });
  expect(lines).toEqual(["Prompt 0", "Prompt 1", "Agent: plan", "Prompt 2", "Prompt 3", "Agent: build"]);
});

it("does not end a step again whose end comes after the next one, unless it has tokens", () => {
  const header = headerLine({ agent: "opencode", session: "ses_1", file: "/data/opencode.db" });
  const reader = openCode.createReader({ path: "ses_1.records.jsonl" });
  const endsAfter = (lines: string[]) =>
    reader
      .push(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")))
      .flatMap(({ frames }) => frames)
      .filter(({ type }) => type === "message.end");
  expect(endsAfter([header, message(1), message(2)])).toHaveLength(1);
  expect(endsAfter([entry("finish:msg_1", "1", { finish: "stop" })])).toEqual([]);
  expect(endsAfter([finish(1, 5)])).toMatchObject([{ usage: { output: 5 } }]);
});
