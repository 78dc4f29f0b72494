import type { Translation } from "../../../model/text/catalog.ts";
import type { claudeCodeTitles as english } from "../../../model/text/claude-code-titles.ts";
import { after } from "./title-words.ts";

const number = (value: number): string => value.toLocaleString("zh-CN");

/** A name, or other text without a space before it. */
const named = (name: string | undefined, other: string): string => (name === undefined ? other : ` ${name}`);

/** A hook by its name, in front of Chinese text. */
const hook = (name: string | undefined): string => (name === undefined ? "钩子" : `钩子 ${name} `);

/** The titles that the reader of Claude Code writes. */
export const claudeCodeTitles: Translation<typeof english> = {
  claude_unreadable_line: "无法读取的行",
  unreadable_answer: "无法读取的模型回答",
  unreadable_message: "无法读取的消息",
  assistant_line_without_message: "没有消息的 assistant 行",
  user_line_without_message: "没有消息的 user 行",
  attachment_of_type: ({ type = "未知" }) => `类型为 ${type} 的附件`,
  notice_of_type: ({ type }) => (type === undefined ? "没有类型的系统通知" : `类型为 ${type} 的系统通知`),

  claude_api_error: "API 错误",
  claude_run_failed: "运行失败",
  fell_back: ({ from, to }) =>
    `已从${from === undefined ? "某个模型" : ` ${from} `}降级到${named(to, "另一个模型")}`,
  model_refused: ({ reason }) => `模型拒绝回答${after(reason)}`,
  refusal_answered_again: ({ from, to }) => {
    const instead = from === undefined ? "" : `代替 ${from} `;
    return `模型拒绝回答：已${to === undefined ? "" : `由 ${to} `}${instead}重新回答`;
  },
  api_retry: ({ status, attempt, most, seconds, reason }) => {
    const of = most === undefined ? "" : `（共 ${most} 次）`;
    const retry = attempt === undefined ? "" : `，第 ${attempt} 次重试${of}`;
    const wait = seconds === undefined ? "" : `，${seconds} 秒后`;
    return `API 错误${status === undefined ? "" : ` ${status}`}${retry}${wait}${after(reason)}`;
  },

  hook_said: ({ name, text }) => `${hook(name).trimEnd()}：${text}`,
  hook_added_context: ({ name }) => `${hook(name)}添加了上下文`,
  hook_context: ({ name, text }) => `来自${hook(name)}的上下文：${text}`,
  hook_blocked: ({ name, text }) => `${hook(name)}阻止了此操作${after(text)}`,
  hook_cancelled: ({ name, text }) => `${hook(name)}已取消${after(text)}`,
  claude_hook_failed: ({ name, text }) => `${hook(name)}失败${after(text)}`,
  hook_ended_turn: ({ name, text }) => `${hook(name)}结束了本轮${after(text)}`,
  stop_hook_continued: ({ message }) => `停止钩子让智能体继续运行：${message}`,
  stop_hook_ended_turn: ({ message }) => `停止钩子结束了本轮${after(message)}`,
  stop_hook_said: ({ message }) => `停止钩子的消息${after(message)}`,
  stop_hook_failed: ({ message }) => `停止钩子失败${after(message)}`,

  file_attached: ({ name }) => `已附加${named(name, "一个文件")}`,
  folder_attached: ({ name }) => `已附加${named(name, "一个目录")}`,
  changed_outside: ({ name = "一个文件" }) => `在智能体之外被修改：${name}`,
  read_before_compaction: ({ name = "一个文件" }) => `压缩之前读取过：${name}`,
  file_read_in_part: "只读取了文件的一部分",
  from_editor: ({ name = "一个文件" }) => `来自编辑器：${name}`,
  editor_context: ({ text }) => `来自编辑器：${text}`,
  memory_file: ({ name = "一个文件" }) => `记忆：${name}`,
  instruction_files: ({ names }) => `指令：${names}`,
  instruction_files_removed: ({ names }) => `已移除指令：${names}`,
  instructions_loaded: ({ text }) => `已加载指令：${text}`,
  mcp_instructions: ({ names }) => `MCP 指令：${names}`,
  mcp_instructions_removed: ({ names }) => `已移除 MCP 指令：${names}`,
  plan_kept: ({ name = "一个文件" }) => `计划：${name}`,
  structured_output: "结构化输出",
  plan_mode_on: "计划模式已开启",
  plan_mode_off: "计划模式已关闭",
  auto_mode_on: "自动模式已开启",
  auto_mode_off: "自动模式已关闭",
  diagnostics: ({ first, more }) => `诊断：${first}${more === 0 ? "" : `，还有 ${more} 条`}`,
  command_expansion: ({ command }) => `${command} 的展开内容`,
  context_added: ({ text }) => `已添加上下文：${text}`,
  tagged_context_added: ({ tag, text }) => `已添加上下文（${tag}）：${text}`,
  added_around_task: ({ text }) => `添加在任务前后的内容：${text}`,

  conversation_summary: "到目前为止的对话摘要",
  old_outputs_dropped: ({ saved }) =>
    `已从上下文中移除旧的工具输出${saved === undefined ? "" : `，节省 ${number(saved)} 个 token`}`,
  part_summarized: "对话的一部分已被摘要",
  compacted_by: ({ trigger, before, now }) => {
    const how = trigger === "manual" ? "已按命令压缩" : trigger === "auto" ? "已自动压缩" : "已压缩";
    const rest = now === undefined ? "" : `，压缩后 ${number(now)} 个`;
    return `对话${how}${before === undefined ? "" : `，压缩前 ${number(before)} 个 token${rest}`}`;
  },

  goal_met: ({ goal }) => `目标已达成${after(goal)}`,
  goal_set: ({ goal }) => `目标已设定${after(goal)}`,
  goal_not_met: ({ goal }) => `目标尚未达成${after(goal)}`,
  program_note: ({ text }) => `智能体程序的备注：${text}`,
  recap: ({ text }) => `回顾：${text}`,
  bridge_status: ({ text }) => `桥接状态：${text}`,
  model_change: ({ text }) => `模型更换：${text}`,
  background_agents_stopped: "用户已停止所有后台智能体",
  timer_fired: ({ prompt = "定时器已触发" }) => `定时任务：${prompt}`,
  slash_command: ({ command }) => `命令 ${command}`,
  command_note: ({ text }) => `命令：${text}`,
  command_output: ({ text }) => `命令输出：${text}`,
  claude_shell_output: ({ text }) => `Shell 输出：${text}`,
  shell_error_output: ({ text }) => `Shell 错误输出：${text}`,
  permission_mode_changed: ({ before, now }) => `权限模式：${before} → ${now}`,
  queued_not_sent: ({ prompt }) => `排队的提示词，没有已发送的记录：${prompt}`,
  claude_rewound_turns: ({ turns }) => `已回退到较早的提示词：上面的 ${turns} 轮已放弃`,
  concurrent_turn: ({ beginning }) => `另一个进程也在写入此会话。以下内容属于“${beginning}”这一轮`,
  copied_above: "以上内容均复制自另一个会话",
  continued_elsewhere: "对话在另一个会话中继续",
  ended_by_model: "模型结束了对话",
  memory_saved: ({ names }) => `已保存记忆：${names}`,
  max_turns_reached: ({ turns }) => (turns === undefined ? "已达到轮数上限而停止" : `${turns} 轮后停止`),
  teammates_shut_down: ({ count }) => `${count} 个队友已关闭`,
  pull_request: ({ name }) => `拉取请求 ${name}`,

  claude_rate_limit_reached: ({ limit }) => `已达到速率限制${after(limit)}`,
  claude_rate_limit_near: ({ limit }) => `即将达到速率限制${after(limit)}`,
  permission_denied: ({ tool = "某个工具", reason }) => `已拒绝 ${tool} 的权限${after(reason)}`,
  summary_of_calls: ({ text }) => `调用概要：${text}`,
  claude_suggested_prompt: ({ prompt }) => `建议的提示词：${prompt}`,
  sign_in_failed: ({ error }) => `登录失败：${error}`,
  mirror_failed: ({ error }) => `无法镜像会话：${error}`,
  plugin_not_installed: ({ name }) => `${name === undefined ? "插件" : `插件 ${name} `}未安装`,
};
