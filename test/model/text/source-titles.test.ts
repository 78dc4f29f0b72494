import { describe, expect, it } from "vitest";
import { textOf } from "../../../src/model/text/catalog.ts";
import { sourceTitle, sourceTitles } from "../../../src/model/text/source-titles.ts";
import { messageFields } from "../../../src/model/text/titles.ts";
import { sourceTitles as chinese } from "../../../src/web/text/zh/source-titles.ts";

/** The text of a code in English and in Chinese. */
const both = (code: keyof typeof sourceTitles, params: object = {}): unknown[] => [
  textOf(sourceTitles, code, params),
  textOf(chinese, code, params),
];

describe("a composed title", () => {
  it("contains the facts that are known", () => {
    expect(both("shell_output")).toEqual(["Shell output", "Shell 输出"]);
    expect(both("shell_output", { exit: 0 })).toEqual(["Shell output: exit 0", "Shell 输出：退出码 0"]);
    expect(both("shell_output", { exit: "cancelled", cut: "yes", hidden: "yes" })).toEqual([
      "Shell output: cancelled, cut, not shown to the model",
      "Shell 输出：已取消，已截断，未向模型显示",
    ]);
    expect(both("task_done")).toEqual(["Task done", "任务完成"]);
    expect(both("task_stopped", { model: "m", steps: 1, seconds: 2 })).toEqual([
      "Task stopped: m, 1 step, 2.0 s",
      "任务已停止：m，1 步，2.0 秒",
    ]);
    expect(both("context_compacted", { before: 1_234 })).toEqual([
      "Context compacted: 1,234 tokens before",
      "上下文已压缩：压缩前 1,234 个 token",
    ]);
  });

  it("has the right plural form", () => {
    expect(both("went_back")).toEqual(["Went back to an earlier entry", "返回到更早的条目"]);
    expect(both("went_back", { turns: 0 })).toEqual([
      "Went back to an earlier entry: the rest of its turn is abandoned",
      "返回到更早的条目：所在轮的其余部分已放弃",
    ]);
    expect(both("went_back", { turns: 1 })).toEqual([
      "Went back to an earlier entry: 1 turn above is abandoned",
      "返回到更早的条目：上面的 1 轮已放弃",
    ]);
    expect(both("rewound_turns", { turns: 2 })).toEqual([
      "Rewound: 2 turns above are abandoned",
      "已回退：上面的 2 轮已放弃",
    ]);
  });

  it("says in words what a permission record decided, and shows other kinds as recorded", () => {
    expect(both("permission_decided", { request: "ls", decision: "denied-by-rules" })).toEqual([
      "Permission requested: ls (refused by a rule)",
      "请求权限：ls（已被规则拒绝）",
    ]);
    expect(both("permission_decided", { decision: "new-kind" })).toEqual([
      "Permission requested (new-kind)",
      "请求权限（new-kind）",
    ]);
  });
});

it("a title of the reducer can be the message of an error", () => {
  expect(messageFields(sourceTitle("error"))).toStrictEqual({
    message: "Error",
    title_code: { code: "error" },
  });
  expect(messageFields("as recorded")).toStrictEqual({ message: "as recorded" });
});
