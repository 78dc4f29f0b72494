import type { Translation } from "../../../model/text/catalog.ts";
import type { outcomeReasons as english } from "../../../model/text/outcome-reasons.ts";

export const outcomeReasons: Translation<typeof english> = {
  parallel_call_failed: "一个并行调用失败或被停止",
  run_end_not_recorded: "文件没有记录此运行如何结束",
  command_interrupted: "智能体中断了此命令",
  refused_with: ({ option }) => `已拒绝：${option}`,
  user_not_asked: ({ problem }) => `无法询问用户（${problem}）`,
  not_answered_in_time: "没有人及时回答",
  not_allowed: "未获允许",
};
