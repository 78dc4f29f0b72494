import type { Translation } from "../../../model/text/catalog.ts";
import type { sourceTitles as english } from "../../../model/text/source-titles.ts";
import { readerTitles } from "./reader-titles.ts";
import { after, joined, tokensBefore } from "./title-words.ts";

/** The titles that readers of agents' records write. */
export const sourceTitles: Translation<typeof english> = {
  ...readerTitles,
  model_changed: ({ before = "未知", now = "未知" }) => `模型已更换：${before} → ${now}`,
  error_without_message: "没有错误信息的错误",
  unknown_content: "未知类型的内容",
  record_of_type: ({ type = "未知" }) => `类型为 ${type} 的记录`,
  event_of_type: ({ type = "未知" }) => `类型为 ${type} 的事件`,
  part_of_type: ({ type = "未知" }) => `类型为 ${type} 的部分`,
  block_of_type: ({ type = "未知" }) => `类型为 ${type} 的内容块`,
  message_of_role: ({ role = "未知角色" }) => `${role} 的消息`,
  plan_mode_entered: "已进入计划模式",
  plan_mode_left: "已退出计划模式",
  plan_mode_cancelled: "已取消计划模式",
  permission_mode: ({ mode = "未知" }) => `权限模式：${mode}`,
  goal: ({ goal = "未记录" }) => `目标：${goal}`,
  goal_updated: ({ status }) => `目标已更新${after(status)}`,
  goal_cleared: "目标已清除",
  context_cleared: "上下文已清空",
  conversation_compacted: "对话已压缩",
  conversation_compacted_tokens: ({ before, now }) => `对话已压缩：${before} → ${now} 个 token`,
  compaction_cancelled: "压缩已取消",
  retrying: ({ reason }) => `正在重试请求${after(reason)}`,
  retrying_attempt: ({ attempt }) => `正在重试请求：第 ${attempt} 次`,
  forked: "分叉：以上内容均复制自另一个会话",
  line_of_type: ({ type = "未知" }) => `类型为 ${type} 的行`,
  item_of_type: ({ type = "未知" }) => `类型为 ${type} 的条目`,
  content_of_type: ({ type = "未知" }) => `类型为 ${type} 的内容`,
  record_named: ({ name }) => `记录 ${name}`,
  unreadable_line: "无法读取的行",
  unreadable_record: "无法读取的记录",
  request_failed: "请求失败",
  turn_failed: ({ reason }) => `本轮失败${after(reason)}`,
  context_from: ({ agent, reason }) => `来自 ${agent} 的上下文${after(reason)}`,
  reminder_from: ({ agent }) => `来自 ${agent} 的提醒`,
  skill: ({ skill = "未知" }) => `技能：${skill}`,
  context_compacted: ({ before }) => `上下文已压缩${tokensBefore(before)}`,
  rewound: "已回退",
  shell_output: ({ exit, cut, hidden }) => {
    const facts = [
      exit === "cancelled" ? "已取消" : exit === undefined ? undefined : `退出码 ${exit}`,
      cut === "yes" ? "已截断" : undefined,
      hidden === "yes" ? "未向模型显示" : undefined,
    ];
    return `Shell 输出${after(joined(facts))}`;
  },
};
