import type { Translation } from "../../../model/text/catalog.ts";
import type { readerTitles as english } from "../../../model/text/reader-titles.ts";
import { after, joined, tokens, tokensBefore } from "./title-words.ts";

const copilotDecisions: ReadonlyMap<string, string> = new Map([
  ["approved", "已允许"],
  ["approved-by-settings", "已由设置允许"],
  ["approved-for-session", "已允许用于本次会话"],
  ["approved-for-location", "已允许用于该文件夹"],
  ["denied-interactively-by-user", "已被用户拒绝"],
  ["denied-by-rules", "已被规则拒绝"],
  ["denied-by-content-exclusion-policy", "已被内容排除策略拒绝"],
  ["denied-by-permission-request-hook", "已被钩子拒绝"],
  ["denied-no-approval-rule-and-could-not-request-from-user", "已拒绝：没有规则允许，也无法询问用户"],
  ["cancelled", "已撤回"],
]);

function abandoned(turns: number | undefined): string {
  if (turns === undefined) return "";
  return turns === 0 ? "：所在轮的其余部分已放弃" : `：上面的 ${turns} 轮已放弃`;
}

const taskFacts = ({ model, steps, seconds }: Parameters<typeof english.task_done>[0]): string =>
  after(
    joined([
      model,
      steps === undefined ? undefined : `${steps} 步`,
      seconds === undefined ? undefined : `${seconds.toFixed(1)} 秒`,
    ]),
  );

/** The titles that the reader of one agent writes. */
export const readerTitles: Translation<typeof english> = {
  // Amp
  files_for_model: "给模型的文件",
  note: "备注",
  related_thread: ({ type = "相关", role, thread = "未知线程" }) =>
    `${type}${role === undefined ? "" : `（${role}）`}：${thread}`,

  // Antigravity
  conversation_summarized: "对话已总结",
  earlier_conversations: "更早的对话",
  note_to_model: "给模型的备注",
  knowledge: "知识",
  message_to_agent: "给智能体的消息",
  step_of_type: ({ type = "未知" }) => `类型为 ${type} 的步骤`,
  still_running: ({ tool = "某个工具" }) => `${tool} 仍在运行`,

  // ATIF, and lists of chat messages
  continues_trajectory: ({ trajectory }) => `接续轨迹 ${trajectory}`,
  continues_in: ({ trajectory }) => `后续见 ${trajectory}`,
  system: "系统",
  copied_context: "复制的上下文",
  prompt_of_previous_trajectory: "上一条轨迹的提示词",
  step_of_source: ({ source = "未知来源" }) => `${source} 的步骤`,
  trajectory_of_sub_agent: "子智能体的轨迹",
  observation: "观察结果",
  reminder_from_the_agent: "来自智能体的提醒",
  item_not_message: "不是消息的条目",

  // Cline, and Roo Code
  message_of_kind: ({ kind = "未知" }) => `类别为 ${kind} 的消息`,
  summary_of_conversation: "对话的摘要",
  request_sent_again: "请求已重新发送",
  response_interrupted: ({ by }) => `回复被 ${by} 中断`,

  // Copilot Chat
  attached_by_editor: "VS Code 自动附加",
  references_of_answer: "回答的引用",
  message_for_model: "发送给模型的消息",
  similar_code: "与公开代码相似的代码",

  // Copilot CLI
  context_truncated: ({ removed }) =>
    `上下文已截断${after(removed === undefined ? undefined : `移除了 ${tokens(removed)}`)}`,
  context_being_compacted: "正在压缩上下文",
  compaction_failed: ({ reason }) => `压缩失败${after(reason)}`,
  rewound_to_event: "已回退到更早的事件",
  developer_message: "开发者消息",
  attachment: "附件",
  sub_agent_failed: "子智能体失败",
  model_call_failed: "模型调用失败",
  tools_of_provider: "由提供方运行的工具",
  notice: "通知",
  warning: ({ message = "未知" }) => `警告：${message}`,
  mode_changed: ({ before = "未知", now = "未知" }) => `模式：${before} → ${now}`,
  permission_recovery: ({ status = "未知" }) => `从被拒绝的权限中恢复：${status}`,
  model_unavailable: ({ model = "未知" }) => `模型不再可用：${model}`,
  limits_changed: "会话的限制已更改",
  plan_file: ({ operation = "未知" }) => `计划文件：${operation}`,
  workspace_file: ({ operation = "未知", path = "未知" }) => `工作区文件 ${operation}：${path}`,
  prompt_scheduled: ({ prompt = "未知" }) => `已安排提示词：${prompt}`,
  scheduled_prompt_cancelled: ({ id }) => `已取消安排的提示词：${id}`,
  autopilot_objective: ({ operation = "未知" }) => `自动驾驶目标：${operation}`,
  handed_over: ({ source = "未知" }) => `由 ${source} 移交`,
  remote_control_on: "远程控制已开启",
  remote_control_off: "远程控制已关闭",
  task_completed: "任务已完成",
  task_not_completed: "任务未完成",
  model_routing_failed: ({ reason = "未知" }) => `模型路由失败：${reason}`,
  models_chosen: ({ model = "未知" }) => `已选择模型：${model}`,
  combined_answer: ({ outcome = "未知" }) => `多个模型的综合回答：${outcome}`,
  model_in_role: ({ model = "未知", role = "未知" }) => `${model} 担任 ${role}`,
  model_in_role_failed: ({ model = "未知", role = "未知", reason = "未知" }) =>
    `${model} 担任 ${role} 失败：${reason}`,
  agent_selected: ({ agent = "未知" }) => `已选择智能体：${agent}`,
  default_agent_selected: "已选择默认智能体",
  tools_loaded: ({ tools }) => `已加载工具：${tools}`,
  canvas: ({ title = "未知" }) => `画布：${title}`,
  session_resumed: "会话已恢复",
  session_ended: "会话已结束",
  session_ended_in_error: "会话因错误结束",
  permission_requested: ({ request }) => `请求权限：${request}`,
  permission_decided: ({ request, decision }) =>
    `请求权限${after(request)}（${copilotDecisions.get(decision) ?? decision}）`,
  hook: ({ hook = "未知" }) => `钩子 ${hook}`,
  hook_failed: ({ hook = "未知", reason }) => `钩子 ${hook} 失败${after(reason)}`,

  // Cursor
  line_of_kind: ({ kind = "未知类别" }) => `${kind} 的行`,
  turn_ended_with: ({ status }) => `本轮已结束：${status}`,

  // Cursor (IDE)
  prompt_not_stored: "Cursor 不再保存的提示词",

  // Droid
  hook_status: ({ hook, status = "已运行" }) => `钩子 ${hook}：${status}`,

  // Gemini CLI
  session_context: "会话上下文",
  sent_with_output: "随工具输出一起发送",
  continue: "继续",
  context_compressed: "上下文已压缩",

  // goose
  message_for_model_only: "仅供模型的消息",
  content_not_object: "不是对象的内容",
  notification: "通知",
  asked_user: "已询问用户",
  user_answered: "用户已回答",
  asked_for_approval: ({ tool = "某个工具" }) => `请求批准：${tool}`,

  // Hermes Agent
  observed_message: "聊天中并非发给智能体的消息",

  // Inspect
  target: ({ target }) => `期望结果：${target}`,
  sample_failed: "样本失败",
  limit_reached: ({ limit = "未知" }) => `已达到限制：${limit}`,
  interrupted_by_limit: "因限制而中断",
  sample_retried: ({ reason }) => `样本已重新运行${after(reason)}`,
  info: ({ source }) => (source === undefined ? "信息" : `来自 ${source} 的信息`),
  approval: ({ decision = "未知" }) => `批准：${decision}`,
  approval_of_result: ({ decision = "未知" }) => `对结果的审批：${decision}`,
  score_edited: ({ name, value = "未更改" }) =>
    `${name === undefined ? "得分" : `${name} 得分`}已修改：${value}`,
  score: ({ name, value = "无" }) => `${name === undefined ? "得分" : `${name} 得分`}：${value}`,

  // Kimi Code
  summary_of_earlier_conversation: "之前对话的摘要",
  hook_output: "钩子输出",
  retry_context: "重试",
  swarm_mode_entered: "已进入集群模式",
  swarm_mode_left: "已退出集群模式",
  tower_mode_entered: "已进入塔台模式",
  tower_mode_left: "已退出塔台模式",
  old_results_removed: "已从上下文中移除旧的工具结果",
  skill_activated: ({ skill = "未知" }) => `已启用技能：${skill}`,
  decided: ({ decision, action = "一次调用" }) => `${decision}：${action}`,
  refused_action: ({ action = "一次调用" }) => `已拒绝：${action}`,
  undone: ({ turns }) => `已撤销：上面的 ${turns} 轮不再属于对话`,

  // Kimi CLI
  step_interrupted: "步骤已中断。Kimi CLI 不记录错误",
  plan_shown: ({ path }) => `计划${after(path)}`,
  side_answer: "附带问题的回答",
  side_question_failed: "附带问题失败",

  // klaude-code
  reminder: ({ about }) => `提醒${after(about)}`,
  rewound_by_model: ({ items }) => (items === 0 ? "模型已回退" : `模型已回退：撤回了 ${items} 个条目`),
  rewound_into_fork: "已回退：以上内容复制自另一个会话，其余部分以摘要代替",
  prompt_withdrawn: "一条提示词已撤回",
  task_done: (facts) => `任务完成${taskFacts(facts)}`,
  task_stopped: (facts) => `任务已停止${taskFacts(facts)}`,
  files_were_changed: ({ files }) => `更改了 ${files} 个文件`,
  while_away: "你离开期间",
  suggested_prompt: "建议的提示词",
  side_question: ({ question = "" }) => `附带问题：${question}`,

  // opencode
  agent_failed: "智能体失败",
  agent: ({ agent = "未知" }) => `智能体：${agent}`,
  sub_task: ({ task = "" }) => `子任务：${task}`,
  attempt_failed: ({ attempt }) => (attempt === undefined ? "尝试失败" : `第 ${attempt} 次尝试失败`),
  context_compacted_by_agent: "智能体已压缩上下文",
  files_changed: ({ files }) => `已更改的文件：${files} 个`,

  // OpenHands
  event_of_kind: ({ kind }) => `类别为 ${kind} 的事件`,
  message_of_the: ({ source = "程序" }) => `来自 ${source} 的消息`,
  paused_by_user: "已由用户暂停",
  condensed: "已精简",
  condensation_requested: "已请求精简",

  // pi
  entry_of_type: ({ type = "未知" }) => `类型为 ${type} 的条目`,
  thinking_level: ({ level = "未知" }) => `思考级别：${level}`,
  context_compacted_by_extension: ({ before }) => `扩展已压缩上下文${tokensBefore(before)}`,
  summary_of_branch: "已放弃分支的摘要",
  from_extension: ({ type = "未知" }) => `来自扩展：${type}`,
  label: ({ label }) => `标签：${label}`,
  label_removed: "标签已移除",
  entry_left_out: "一个更早的条目已从上下文中略去",
  entry_replaced: "一个更早的条目已在上下文中被替换",
  copied_entries: "复制自本会话所接续的会话，token 计入该会话",
  own_entries: "本会话自己的条目从这里开始",
  continued_from_branch: ({ turns }) => `从已放弃的分支继续${abandoned(turns)}`,
  went_back: ({ turns }) => `返回到更早的条目${abandoned(turns)}`,
  nested_calls: ({ calls, incomplete }) =>
    `该工具发起的 ${calls} 次调用，不含其输出${incomplete === undefined ? "" : "（记录不完整）"}`,

  // oh-my-pi
  service_tier: ({ tiers = "默认" }) => `服务等级：${tiers}`,
  mode_entered: ({ mode = "未知" }) => `模式：${mode}`,
  usual_mode: "已回到常规模式",
  rules_injected: ({ rules }) => `已加入上下文的规则：${rules}`,
  files_mentioned: "提示词提到的文件",
  exited: ({ reason }) => `智能体进程已结束${after(reason)}`,

  // Qwen Code
  unknown_part: "未知类型的部分",
  system_record_of_subtype: ({ subtype }) => `子类型为 ${subtype} 的系统记录`,
  rewound_turns: ({ turns }) => `已回退：上面的 ${turns} 轮已放弃`,
  rewound_to_prompt: "已回退到更早的提示词",
  answer_without_end: "没有记录此回答的结束：它被停止，或流提前结束",
  context_compacted_tokens: ({ before, now }) => `上下文已压缩：${before} → ${now} 个 token`,
  continues_session: "接续另一个会话",
  attached: ({ files }) => `已附加：${files}`,
  attached_unreadable: ({ files }) => `无法读取附加的 ${files}`,
  background_task_ended: "一个后台任务已结束",
  goal_unnamed: "目标",
  reminder_of_media: "对更早媒体的提醒",
  recording_incomplete: "Qwen Code 未能记录此会话的全部内容",
  output_of: ({ command }) => `${command} 的输出`,
  sub_agent_not_recorded: "Qwen Code 既不记录子智能体的提示词，也不记录其工具的结果",

  // SWE-agent
  demonstration: ({ role = "消息" }) => `示范（${role}）`,
  run_ended: ({ status = "未记录状态" }) => `运行已结束：${status}`,

  // Streams that programs push
  stream_cut: "流提前结束，其余内容从未发送。",
  stream_failed: "流报告了失败",
  stream_line: ({ line }) => `第 ${line} 行`,
  event_without_type: "没有类型的事件",
  step_named: ({ step = "未命名" }) => `步骤：${step}`,
  state: "状态",
  state_changed: "状态已更改",
  activity: "活动",
  activity_changed: ({ activity = "活动" }) => `${activity} 已更改`,
  activity_added: ({ activity = "活动" }) => `${activity}，不替换之前的内容`,
  custom_event: "自定义事件",
  custom_content: "自定义内容",
  result_of_run: "运行的结果",
  run_waits: "运行正在等待用户",
  run_failed: ({ code }) => `运行失败${code === undefined ? "" : `（${code}）`}`,
  answer_to: ({ question = "中断请求", status = "未知" }) => `对 ${question} 的答复：${status}`,
  all_messages: ({ messages }) => `来源中的全部 ${messages} 条消息`,
  sub_agent_run_ended: ({ name = "子智能体" }) => `${name} 已结束`,
  sub_agent_run_waits: ({ name = "子智能体" }) => `${name} 正在等待用户`,
  sub_agent_run_failed: ({ name = "子智能体", reason = "未说明原因" }) => `${name} 失败：${reason}`,
  sub_agent_run_did_not_end: ({ name = "子智能体" }) => `${name} 没有结束`,
  citations: "引用",
  source: ({ source = "未命名" }) => `来源：${source}`,
  message_metadata: "消息元数据",
  call_waits: "调用正在等待批准",
  call_approved: "调用已获批准",
  call_refused: "调用已被拒绝",
  approval_answered: "批准请求已得到答复",
};
