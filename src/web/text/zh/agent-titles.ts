import type { agentTitles as english } from "../../../model/text/agent-titles.ts";
import type { Translation } from "../../../model/text/catalog.ts";

const nextStart = (retry: string): string => (retry === "prompt" ? "下一条提示词会重新启动它" : "请重试");

const runIt = (retry: string, command: string): string =>
  `${nextStart(retry)}；如果再次结束，请在终端中运行 ${command} 查看原因。`;

/** The titles that Verbatim's own agent writes, its drivers of other agents, and the daemon. */
export const agentTitles: Translation<typeof english> = {
  // Verbatim's own agent
  model_is: ({ model }) => `模型：${model}`,
  output_limit_reached: "模型达到输出上限后停止",
  step_limit_reached: ({ steps }) => `本轮达到 ${steps} 步的上限`,
  send_prompt_to_continue: "发送提示词即可继续。",
  agent_turn_failed: "本轮失败",
  nothing_to_summarize: "没有可总结的内容",
  summarizing_conversation: "正在总结对话以释放上下文空间",
  context_summarized: "已总结对话以释放上下文空间",
  summary_stopped: "总结已停止",
  conversation_not_summarized: "无法总结对话",
  arguments_of_unstarted_call: "从未开始的调用的参数",
  deltas_of_unstarted_block: "从未开始的内容块的增量",
  content: "内容",

  // Sessions of the daemon
  context_rewound: ({ turns }) => `已回退到较早的提示词：上面的 ${turns} 轮已不在智能体的上下文中`,
  agent_cannot_compact: "此智能体不能压缩其上下文。",
  agent_cannot_resume: "此智能体不能恢复被中断的轮次。",
  session_agent_closed: "会话的智能体已关闭。",
  agent_not_configured: ({ agent }) => `智能体 ${JSON.stringify(agent)} 已不在配置中。`,
  choose_model: ({ provider }) => `请选择 ${provider} 的一个模型。`,
  rest_not_shown: "此会话的其余部分未显示",
  not_indexed_yet: ({ size }) => `此前的 ${size} 尚未建立索引`,

  // Agents that are driven over ACP: what they send
  mode_is: ({ mode }) => `模式：${mode}`,
  agent_notice: "通知",
  agent_commands: ({ count }) => `智能体有 ${count} 个命令`,
  agent_summarized: "智能体总结了此前的对话",
  agent_could_not_summarize: "智能体未能总结对话",
  unfinished_summary: "未完成的总结",
  agent_step_limit: "智能体达到自己的步数上限，结束了本轮",
  text_of_sub_agents: "子智能体的文本",
  sent_after_turn: "在本轮结束后发送",
  started_after_turn: "在本轮结束后开始",
  output_after_turn: "未声明的调用的输出，在本轮结束后发送",
  prompt_repeated: "智能体重复的提示词",
  unnamed_update: "没有名称的更新",
  unnamed_message: "一条消息",
  update_not_object: "不是对象的更新",
  unknown_plan: "未知格式的计划",
  unknown_usage: "未知格式的用量",
  unknown_kind_of_content: "未知类型的内容",
  call_without_id: "没有 ID 的工具调用",
  form_not_shown: "无法显示的表单",
  permission_not_answerable: "无法回答的权限请求",
  of_another_session: "属于另一个会话",
  line_not_message: "不是消息的一行",

  // Agents that are driven over ACP: what Verbatim does
  session_begun: ({ agent, session }) => `${agent} 开始了会话 ${session}`,
  history_sent: ({ agent, session }) => `${agent} 发送了以上历史记录，来自其会话 ${session}`,
  opened_without_history: ({ agent, session }) => `${agent} 打开了会话 ${session}，不含历史记录`,
  starts_without_memory: ({ agent }) => `${agent} 重新开始，不记得以上对话`,
  mcp_server_not_passed: ({ server }) => `未传递 MCP 服务器 ${server}`,
  model_not_changed: ({ agent }) => `无法更换 ${agent} 的模型`,
  image_not_sent: "未发送：一张图片（智能体不接受图片）",
  image_file_not_sent: ({ path }) => `未发送：${path}（智能体不接受图片）`,
  unreadable_file_not_sent: ({ path }) => `未发送：${path}（无法读取）`,
  attachment_not_sent: ({ name = "附件" }) => `未发送：${name}（智能体不接受附件）`,
  part_not_sent: ({ type }) => `未发送：类型为 ${type} 的部分`,

  // Agents that are driven over ACP: their failures
  login_required: ({ agent, reason }) => `${agent} 要求登录：${reason}`,
  program_missing: ({ agent, command }) =>
    `无法启动 ${agent}：没有程序 ${command}，或会话的目录已不存在。请安装它，或更正智能体配置中的命令。`,
  not_started: ({ agent, command, reason }) => `无法启动 ${agent}（${command}）：${reason}`,
  killed_unrecorded: ({ agent, reason, retry }) =>
    `${agent} 已被终止：无法记录它的消息（${reason}）。${nextStart(retry)}。`,
  killed_for_long_message: ({ agent, characters, retry }) =>
    `${agent} 已被终止：它发送了一条超过 ${new Intl.NumberFormat("en").format(characters)} 个字符的消息。${nextStart(retry)}。`,
  ended_with_exit_code: ({ agent, code = "未知", command, retry }) =>
    `${agent} 已结束，退出码 ${code}。${runIt(retry, command)}`,
  ended_by_signal: ({ agent, signal, command, retry }) =>
    `${agent} 被信号 ${signal} 结束。${runIt(retry, command)}`,
  session_not_opened: ({ agent, reason }) => `${agent} 无法打开会话：${reason}`,
  no_session_id: ({ agent }) => `${agent} 打开了会话，但没有返回会话 ID。`,
  session_open_in_process: ({ agent, session }) =>
    `${agent} 的会话 ${session} 已在另一个进程中打开。请在那里关闭它，然后重新发送提示词。`,
  session_open_in_verbatim: ({ agent, session }) =>
    `${agent} 的会话 ${session} 已在 Verbatim 的另一个会话中打开。请在那里发送提示词。`,
  prompt_refused: ({ agent }) => `${agent} 拒绝就此提示词继续，并已将它从上下文中移除。请换一种说法。`,
};
