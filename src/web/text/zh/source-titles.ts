import type { Translation } from "../../../model/text/catalog.ts";
import type { sourceTitles as english } from "../../../model/text/source-titles.ts";

/** A full-width colon and a text, if there is one. */
export const after = (text: string | undefined): string => (text === undefined ? "" : `：${text}`);

/** The titles that readers of agents' records write. */
export const sourceTitles: Translation<typeof english> = {
  model_changed: ({ before, now }) => `模型已更换：${before} → ${now}`,
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

  // Kimi Code
  swarm_mode_entered: "已进入集群模式",
  swarm_mode_left: "已退出集群模式",
  old_results_removed: "已从上下文中移除旧的工具结果",
  skill_activated: ({ skill = "未知" }) => `已启用技能：${skill}`,
  decided: ({ decision, action }) => `${decision}：${action}`,
  refused_action: ({ action = "一次调用" }) => `已拒绝：${action}`,
  undone: ({ turns }) => `已撤销：上面的 ${turns} 轮不再属于对话`,
};
