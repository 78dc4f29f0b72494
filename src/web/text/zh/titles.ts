import type { Translation } from "../../../model/text/catalog.ts";
import type { foldTitles } from "../../../model/text/fold-titles.ts";
import type { Titles } from "../../../model/text/titles.ts";
import { agentTitles } from "./agent-titles.ts";
import { claudeCodeTitles } from "./claude-code-titles.ts";
import { codexTitles } from "./codex-titles.ts";
import { failureTexts } from "./failure-texts.ts";
import { outcomeReasons } from "./outcome-reasons.ts";
import { requestTexts } from "./request-texts.ts";
import { retractionReasons } from "./retraction-reasons.ts";
import { sourceTitles } from "./source-titles.ts";

const fold: Translation<typeof foldTitles> = {
  interrupted_by_user: "被用户中断",
  interrupted_during_call: "在工具调用期间被用户中断",
  interrupt_cancelled: "已取消",
  interrupt_stopped: "已停止",
  stopped_during_call: "在工具调用期间停止",
  stopped_by_user: "被用户停止",
  stopped_by_user_during_call: "在工具调用期间被用户停止",
  stopped_from_other_device: "从另一台设备停止",
  stopped_at_credit_limit: "已停止：达到额度上限",
  interrupt_aborted: "已中止",
  request_cancelled: "请求已取消。",
  operation_aborted: "操作已中止",
  permission_refused: "权限被拒绝",
  plan_rejected: "计划被拒绝",
  question_declined: "未回答问题",
  interrupted_by_daemon_end: "已中断：守护进程已结束",
  interrupted_by_session_end: "已中断：会话已关闭",
  interrupted_by_next_turn: "已中断：被新的一轮取代",
  interrupted_by_review_end: "已中断：审查已结束",
  interrupted_by_budget: "已中断：达到预算上限",
  interrupted: "已中断",
  interrupted_by: ({ reason }) => `已中断：${reason}`,
  error: "错误",
  context: "上下文",
  system_prompt: "系统提示词",
  agent_ended: "智能体在此操作运行期间结束",
  turn_ended: "本轮在此操作运行期间结束",
  end_not_recorded: "没有记录它的结束",
};

/** The titles that the daemon writes in English. */
export const titles: Titles = {
  ...fold,
  ...sourceTitles,
  ...claudeCodeTitles,
  ...codexTitles,
  ...agentTitles,
  ...failureTexts,
  ...outcomeReasons,
  ...requestTexts,
  ...retractionReasons,
};
