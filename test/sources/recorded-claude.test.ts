import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { sharedData } from "../shared-data.ts";

/**
 * Sessions of Claude Code 2.1.332, and the recorded ends of their turns and calls: the turn's status, then its calls in order.
 * Consecutive calls with the same end are counted.
 */
const SESSIONS: readonly (readonly [file: string, turns: readonly string[]])[] = [
  ["04213421-e312-479a-b4f3-7a415d93473a.jsonl", ["completed"]],
  [
    "0ec984fb-c8a5-4396-8682-79712c2bd93f.jsonl",
    ["completed, 2 Agent failed, Agent ok", "completed", "completed"],
  ],
  ["0ec984fb-c8a5-4396-8682-79712c2bd93f/subagents/agent-a066dc74d9692871a.jsonl", ["completed, Read ok"]],
  ["0ec984fb-c8a5-4396-8682-79712c2bd93f/subagents/agent-a26942de371f640dc.jsonl", ["failed, Bash ok"]],
  ["16d017bd-5400-4beb-be79-20e7820a5d8b.jsonl", ["completed, Bash ok"]],
  ["18310e49-419d-4e4b-8207-9a5261c32d7c.jsonl", ["completed, Bash ok, Bash refused by hook"]],
  ["19af32ff-d5ee-4e71-b2f1-99a64221d6da.jsonl", ["completed"]],
  [
    "1d19d5c7-4423-497b-9721-d03420d4aea1.jsonl",
    ["completed, TaskCreate ok, TaskUpdate ok, 12 Bash ok, TaskUpdate ok"],
  ],
  ["1d7f62ce-8bcb-4ab0-a726-94ac1542cb97.jsonl", ["completed, web_search ok"]],
  ["1edeec93-4bdb-4175-ba02-7dfa6379ab86.jsonl", ["completed, Bash ok"]],
  ["273ab2d0-bb1b-4c4a-b138-2e9a3bfbaa4d.jsonl", ["completed, 2 Read ok, Bash ok"]],
  [
    "2752e515-9f9c-4113-9700-e58c690d83ca.jsonl",
    [
      "completed, AskUserQuestion ok",
      "interrupted, Bash refused by person, Write refused by person",
      "completed, Write ok, Bash ok",
    ],
  ],
  [
    "2811206e-d7c3-45cf-8b99-f5916ad8446c.jsonl",
    ["interrupted, Agent unknown, Bash unknown", "completed, Bash ok"],
  ],
  ["2811206e-d7c3-45cf-8b99-f5916ad8446c/subagents/agent-ab293175e3cd1c47b.jsonl", ["failed, Bash unknown"]],
  ["286b73e7-ca31-4e9a-81ef-9830d921b556.jsonl", ["completed, Agent ok, SendMessage ok, Bash ok"]],
  [
    "286b73e7-ca31-4e9a-81ef-9830d921b556/subagents/agent-ac6a5b75062a7c41d.jsonl",
    ["completed, Bash ok, Read ok, Bash failed"],
  ],
  ["2990a61c-1c67-424f-9a46-92c4a70787e4.jsonl", ["completed, Bash ok"]],
  ["2998b162-ed0e-4c76-840e-11c42f6fac68.jsonl", ["completed, ToolSearch ok, NotebookEdit failed"]],
  ["2b5022d3-ed57-4a1c-9df3-9fc80a5ff797.jsonl", ["completed, Agent ok", "completed"]],
  ["2b5022d3-ed57-4a1c-9df3-9fc80a5ff797/subagents/agent-a39b7568d6f00ce27.jsonl", ["completed, Bash ok"]],
  ["2f91a846-1c68-408d-8e24-80fd9134d99b.jsonl", ["completed, Bash ok"]],
  [
    "3189ab19-afa5-4957-afee-54ce139fd6f3.jsonl",
    [
      "completed, 2 Agent ok",
      "completed",
      "completed",
      "completed, Agent ok",
      "completed",
      "completed, Bash ok",
      "completed, Agent ok",
      "completed",
    ],
  ],
  ["3189ab19-afa5-4957-afee-54ce139fd6f3/subagents/agent-a5bfc7a636d3be3a6.jsonl", ["completed, Bash ok"]],
  ["3189ab19-afa5-4957-afee-54ce139fd6f3/subagents/agent-a7263f4afeb4079a5.jsonl", ["completed, Read ok"]],
  [
    "3189ab19-afa5-4957-afee-54ce139fd6f3/subagents/agent-a83225239221b559d.jsonl",
    ["completed, Bash failed"],
  ],
  [
    "3189ab19-afa5-4957-afee-54ce139fd6f3/subagents/agent-ac1a2ffdb3eab0fdd.jsonl",
    ["completed, Bash failed"],
  ],
  [
    "35d4167a-bb38-401d-b38a-d1b53b423ff5.jsonl",
    ["completed, 3 Agent ok", "completed", "completed", "completed"],
  ],
  [
    "35d4167a-bb38-401d-b38a-d1b53b423ff5/subagents/agent-a0df26081bcca8af4.jsonl",
    ["completed, Bash ok, Read ok, Bash failed"],
  ],
  [
    "35d4167a-bb38-401d-b38a-d1b53b423ff5/subagents/agent-a9c99005791ad3c29.jsonl",
    ["completed, Bash ok, Read ok, Bash failed"],
  ],
  [
    "35d4167a-bb38-401d-b38a-d1b53b423ff5/subagents/agent-ad4eb8d73d89a507f.jsonl",
    ["completed, Bash ok, Read ok, Bash failed"],
  ],
  ["375bd020-de68-40e4-b623-3526a05e3216.jsonl", ["completed, Bash ok, Read ok, 2 Bash ok"]],
  ["3b2c1072-7b96-4a38-817a-fae1709eb8d1.jsonl", ["completed, 3 Bash ok", "completed"]],
  ["425334bd-9db3-4845-b288-f3832742ed1d.jsonl", ["completed"]],
  ["4258820f-d0ab-4ff4-98d9-c29b49e37b05.jsonl", ["completed, Bash ok"]],
  [
    "432df27b-016f-4e07-bf10-61a5abb0aea8.jsonl",
    ["completed, Bash ok", "completed, Read ok", "completed, 2 Bash ok", "completed"],
  ],
  ["532332b0-6872-405d-9ce3-572f87793028.jsonl", ["completed, Bash ok"]],
  [
    "551b50c5-0806-4145-9195-7ac151d05c1c.jsonl",
    ["completed, 6 Bash ok, Read ok, Bash failed, Bash ok, Read ok"],
  ],
  [
    "5b0b2437-19ed-4e62-b733-89e69ebec7c5.jsonl",
    ["completed, Bash ok", "completed, 2 Bash ok", "completed, Read ok"],
  ],
  ["5bd12083-1958-4299-af00-78c16d0621e4.jsonl", ["completed, Bash ok", "completed, Read ok"]],
  ["672db457-bcc3-46e8-a414-a55fb4240cfb.jsonl", ["completed, Agent ok", "completed"]],
  ["672db457-bcc3-46e8-a414-a55fb4240cfb/subagents/agent-ae145e65b58147f1f.jsonl", ["completed, Bash ok"]],
  [
    "6d9d0528-3f2a-40d9-bee5-ff430c6218f0.jsonl",
    ["completed, Bash ok, Read failed, Bash ok, Bash failed, Read ok"],
  ],
  [
    "6e281149-17a6-4abf-9e22-1e5bfc482cbc.jsonl",
    ["completed, Bash ok", "completed, 2 Bash ok", "completed, Read ok", "completed"],
  ],
  ["718e7392-5386-4614-a06d-1dc088a7092b.jsonl", ["completed, AskUserQuestion failed"]],
  ["7b04bbe4-1400-4796-b5c7-7438e32b0613.jsonl", ["completed, 4 Bash ok"]],
  ["7bf8abaf-2aae-463d-8509-1496241c2579.jsonl", ["completed, Workflow ok, Bash ok"]],
  [
    "7bf8abaf-2aae-463d-8509-1496241c2579/subagents/workflows/wf_1753335e-7d5/agent-ae54eb8f870d32451.jsonl",
    ["completed, Bash ok"],
  ],
  [
    "7bf8abaf-2aae-463d-8509-1496241c2579/subagents/workflows/wf_1753335e-7d5/agent-aeb1e681c0a359642.jsonl",
    ["completed, Bash ok"],
  ],
  ["7f7c6cf2-4753-48ad-807f-710810d8c878.jsonl", ["completed, Bash ok"]],
  ["8246877b-790e-46d3-ac27-939928c03cae.jsonl", ["completed, Bash ok"]],
  ["82d1ad30-d29b-4202-aba2-b61749cd2c80.jsonl", ["failed, Read ok", "completed, Bash ok"]],
  [
    "86dabdf5-0d32-4d41-b11f-d9f6800ce138.jsonl",
    ["completed, Read ok, ExitPlanMode ok, Write ok", "completed, Bash ok"],
  ],
  ["877e7a15-4ce9-46e4-baa7-2fea6445877e.jsonl", ["completed, Read ok"]],
  ["90c2e829-4c0c-4b55-8fab-756f3374376f.jsonl", ["completed, Agent ok", "completed", "completed, Bash ok"]],
  [
    "90c2e829-4c0c-4b55-8fab-756f3374376f/subagents/agent-a1b007e86c4776f8e.jsonl",
    ["completed, Bash failed"],
  ],
  [
    "9407a599-4343-46dd-9bff-e3e60af31a30.jsonl",
    ["completed, Agent stopped by person", "completed", "completed"],
  ],
  [
    "9407a599-4343-46dd-9bff-e3e60af31a30/subagents/agent-aea9e00437bef46ea.jsonl",
    ["interrupted, Bash stopped by person"],
  ],
  [
    "9513f289-6e35-43e0-b69a-619aaeeab36e.jsonl",
    ["completed, Read ok, Bash refused by mode, ExitPlanMode failed"],
  ],
  [
    "9aaa159a-a61c-4ce4-8591-fe2b4e9cf83b.jsonl",
    ["completed, Agent ok, Bash ok, Read ok, Bash ok", "completed", "completed"],
  ],
  ["9aaa159a-a61c-4ce4-8591-fe2b4e9cf83b/subagents/agent-aa9e4f3a2463aa307.jsonl", ["completed, Bash ok"]],
  ["9c3439aa-ed30-402b-982f-66ae81a5019e.jsonl", ["completed, Bash ok", "completed, Read ok"]],
  [
    "9d9a3030-6bc9-4b24-bd5f-f325394cf08e.jsonl",
    ["interrupted, Bash stopped by person, Bash ok", "completed, Bash ok"],
  ],
  [
    "9ee6ab21-9964-4970-b101-1a674eddc15c.jsonl",
    ["completed, Bash ok", "completed, Read ok", "completed, Read ok", "completed, 2 Bash ok"],
  ],
  [
    "9f0858a0-105e-4d1f-ba40-fc360630b24e.jsonl",
    ["completed, Bash ok, Read ok", "completed, Bash ok", "completed, Read ok"],
  ],
  ["a4f82d37-0032-4c6b-a8b7-bdff40eacde7.jsonl", ["interrupted, Bash ok", "completed, Bash ok"]],
  ["aa76d3e5-6019-4610-9de1-0af02f244c0d.jsonl", ["failed, Bash ok, Bash unknown"]],
  [
    "abe5d38a-ebd3-4ced-a797-8d832bcf634d.jsonl",
    [
      "completed, 2 Bash ok",
      "completed",
      "interrupted, Bash ok",
      "completed, Bash ok",
      "interrupted, Bash stopped by person, Bash ok",
      "completed",
    ],
  ],
  [
    "aec6daa4-b165-4a72-93f1-3be98d0f2205.jsonl",
    ["interrupted, Bash stopped by person, Bash ok", "completed, Bash ok"],
  ],
  ["b49a61a7-fdc2-4f34-90ed-c2f95c232e12.jsonl", ["completed, Bash ok"]],
  ["b648ce1c-724e-4aeb-84ea-1c99074a2fe5.jsonl", ["completed, Agent ok", "completed"]],
  ["b648ce1c-724e-4aeb-84ea-1c99074a2fe5/subagents/agent-a9e92cfa1b5dc43be.jsonl", ["completed, Bash ok"]],
  ["b648ce1c-724e-4aeb-84ea-1c99074a2fe5/subagents/agent-aa23ed3aeea718917.jsonl", ["completed, 2 Agent ok"]],
  ["b648ce1c-724e-4aeb-84ea-1c99074a2fe5/subagents/agent-aa357952d7ebba7f2.jsonl", ["completed, Bash ok"]],
  ["c05a6f55-8be1-45ab-81b7-6ba1501582a0.jsonl", ["interrupted, Bash ok", "completed, Bash ok"]],
  ["c76f86e7-d717-4cb9-afe3-acb909e73fee.jsonl", ["completed, 4 Bash ok, Read ok, 4 Bash ok"]],
  [
    "c7a96b1c-97ec-4f18-8334-7ff8e5358ce2.jsonl",
    ["interrupted, Bash ok, Bash unknown", "completed, Bash ok"],
  ],
  [
    "c924e09d-c442-4b59-8a42-3b2d5323a09d.jsonl",
    [
      "completed, Agent ok, Bash ok, Bash failed, Agent ok, Write ok, Bash ok, Edit ok",
      "completed",
      "completed",
    ],
  ],
  ["c924e09d-c442-4b59-8a42-3b2d5323a09d/subagents/agent-a95da8b2ce0b37c2a.jsonl", ["completed, Bash ok"]],
  ["c924e09d-c442-4b59-8a42-3b2d5323a09d/subagents/agent-ab7c5e814c07a3234.jsonl", ["completed, Bash ok"]],
  ["c924e09d-c442-4b59-8a42-3b2d5323a09d/subagents/agent-adebed81fc64cd739.jsonl", ["completed, Bash ok"]],
  ["c924e09d-c442-4b59-8a42-3b2d5323a09d/subagents/agent-afa9870a002f1c44d.jsonl", ["completed, 2 Agent ok"]],
  ["caa15020-81e9-42b5-a23e-7129829f7599.jsonl", ["completed, Read ok", "completed", "completed"]],
  [
    "d3d0263f-320c-4d94-a63f-3411105054b6.jsonl",
    ["completed, Read ok, Bash ok, 2 Agent ok, Bash ok, Bash failed"],
  ],
  ["d3d0263f-320c-4d94-a63f-3411105054b6/subagents/agent-a05a8c09c9554f5ac.jsonl", ["completed, Bash ok"]],
  ["d3d0263f-320c-4d94-a63f-3411105054b6/subagents/agent-ad95db56e9513d94d.jsonl", ["completed, Read ok"]],
  [
    "d58f1483-1edc-4fd6-b972-429ded1ee26f.jsonl",
    [
      "completed, Bash refused by settings, Write refused by settings, Read refused by settings, WebFetch refused by settings, Bash refused by settings",
    ],
  ],
  ["d9f1dedb-0e55-4242-859b-b6e22a66fcb5.jsonl", ["completed, Bash ok", "completed"]],
  ["e782927b-1ab5-456f-98a2-ad9763e7c410.jsonl", ["completed, Bash ok"]],
  ["e7c89248-06b9-4a26-8ec4-25e7f251fbc7.jsonl", ["completed, 2 Bash ok"]],
  ["e87a4de1-d613-4645-b287-f9fd117b0d7c.jsonl", ["completed, Skill ok, Bash ok"]],
  ["e973664d-c7ab-442d-9206-36feb56f8682.jsonl", ["completed"]],
  ["ecce5ed9-f0a2-4e5d-b228-dc674de57d77.jsonl", ["completed, Agent ok", "completed"]],
  ["ecce5ed9-f0a2-4e5d-b228-dc674de57d77/subagents/agent-a1021ca2e8a840467.jsonl", ["completed, 2 Agent ok"]],
  ["ecce5ed9-f0a2-4e5d-b228-dc674de57d77/subagents/agent-a245e24f041c36d23.jsonl", ["completed, Bash ok"]],
  ["ecce5ed9-f0a2-4e5d-b228-dc674de57d77/subagents/agent-a298cc06c4fdbda49.jsonl", ["completed, Bash ok"]],
  [
    "eeabe379-54c8-4187-b798-75b616d34f1e.jsonl",
    ["completed, ToolSearch ok, mcp__words__lookup ok, mcp__words__fail failed"],
  ],
  [
    "ef6b2f01-8651-45ec-b9fc-34e04270433f.jsonl",
    [
      "completed, 4 Read ok, Write ok, Read ok, 2 Edit ok, NotebookEdit ok, Edit failed, Read failed, Bash failed, Bash ok, Grep failed, Glob failed, MultiEdit failed, NoSuchTool failed, 2 TaskCreate ok, TaskUpdate ok, TaskList ok, TaskUpdate ok, WebFetch refused by settings, WebSearch refused by settings, Read failed",
    ],
  ],
  ["f2a40999-d822-48f0-bc0b-d75c2b9967cc.jsonl", ["completed, Read ok, Write ok, ExitPlanMode ok, Write ok"]],
  [
    "fa3f6905-4735-48a0-af9a-7d50581d1730.jsonl",
    ["completed, Monitor ok, Bash ok", "completed", "completed", "completed", "completed"],
  ],
  ["fecbd45a-9dbb-47e5-8fab-aa3c2c4ae6e2.jsonl", ["interrupted, Bash ok", "completed, Bash ok"]],
];

const FOLDER = sharedData("corpus/recorded/claude-code-2.1.332/projects/-tmp-demo2-project");

describe.skipIf(!FOLDER)(
  "every recorded session of Claude Code 2.1.332 (skipped without the shared data)",
  () => {
    it.each(SESSIONS)("%s", (file, turns) => {
      expect(turnsOf(read(join(FOLDER ?? "", file)))).toEqual(turns);
    });
  },
);

function read(path: string): Transcript {
  const reader = claudeCode.createReader({ path });
  const records = [...reader.push(readFileSync(path)), ...reader.close()];
  let transcript: Transcript | undefined;
  for (const frame of records.flatMap(({ frames }) => frames))
    transcript = accumulate(transcript ?? emptyTranscript(frame.session_id), frame);
  if (transcript === undefined) throw new Error(`${path} holds no session`);
  return transcript;
}

function turnsOf({ turns, parts }: Transcript): string[] {
  return [...turns].flatMap((turn) => {
    if (turn === undefined) return [];
    const calls: { said: string; count: number }[] = [];
    for (let index = turn.first_part; index < turn.first_part + turn.part_count; index += 1) {
      const part = parts.at(index);
      if (part?.type !== "tool_call") continue;
      const said = `${part.tool_name} ${endOf(part.state)}`;
      const last = calls.at(-1);
      if (last?.said === said) last.count += 1;
      else calls.push({ said, count: 1 });
    }
    const told = calls.map(({ said, count }) => (count > 1 ? `${count} ${said}` : said));
    return [[turn.status, ...told].join(", ")];
  });
}

function endOf(state: TranscriptPartOf<"tool_call">["state"]): string {
  switch (state.status) {
    case "completed":
      return "ok";
    case "error":
      return "failed";
    case "aborted": {
      const { kind, by } = state.outcome ?? { kind: "stopped" };
      return by === undefined ? kind : `${kind} by ${by}`;
    }
    default:
      return state.status;
  }
}
