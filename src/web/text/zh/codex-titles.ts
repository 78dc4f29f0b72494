import { type Translation, textsOf } from "../../../model/text/catalog.ts";
import type {
  codexTitles as english,
  injectedTitles as injectedEnglish,
} from "../../../model/text/codex-titles.ts";
import { after } from "./title-words.ts";

/** An agent by its name, between Chinese text. */
const agent = (name: string | undefined): string => (name === undefined ? "另一个智能体" : ` ${name} `);

/** The titles of text that Codex injects under the user's role. */
const injectedTitles: Translation<typeof injectedEnglish> = {
  agents_md: "AGENTS.md 指令",
  environment: "环境",
  user_instructions: "用户指令",
  codex_instructions: "指令",
  permissions: "权限",
  collaboration_mode: "协作模式",
  recommended_plugins: "推荐的插件",
  codex_skill: ({ name }) => `技能${after(name)}`,
  user_shell_command: "用户的 Shell 命令",
  codex_context: ({ name }) => `来自 Codex 的上下文${after(name)}`,
  sub_agent: "子智能体",
  codex_interrupted: "已中断",
  user_action: "用户操作",
  injected_message: "注入的消息",
  codex_hook: "钩子",
};

/** The titles that the reader of Codex writes. */
export const codexTitles: Translation<typeof english> = {
  ...injectedTitles,
  injected_texts: ({ titles }) => textsOf(injectedTitles, titles).join("，"),

  codex_unreadable_line: "无法读取的行",
  content_of_unknown_type: "未知类型的内容",

  message_to: ({ recipient }) => `发给${agent(recipient)}的消息`,
  message_from: ({ author }) => `来自${agent(author)}的消息`,
  answer_from: ({ author }) => `来自${agent(author)}的回答`,
  sub_agent_state: ({ name = "", state = "已汇报" }) => `子智能体 ${name} ${state}`.replaceAll(/ +/g, " "),

  turns_rolled_back: ({ turns }) => (turns === 1 ? "已回滚上一轮" : `已回滚最近 ${turns} 轮`),
  turn_undone: "已撤销",
  undo_failed: "撤销失败",
  codex_rewound: "已回退到较早的提示词。它之前的轮次位于此会话所延续的会话中",
  records_before: ({ records }) =>
    `${records === undefined ? "" : `${records} 条`}更早的记录位于此会话所延续的会话中`,
  records_copied: ({ records }) => `${records} 条记录复制自另一个会话`,
  codex_context_compacted: ({ window }) => `上下文已压缩${window === undefined ? "" : `（窗口 ${window}）`}`,

  review: ({ hint }) => `审查${after(hint)}`,
  review_finished: "审查已完成",
  sleep: ({ seconds }) => (seconds === undefined ? "已等待" : `已等待 ${seconds} 秒`),
  codex_goal: ({ goal, status }) => `目标${after(goal)}${status === undefined ? "" : `（${status}）`}`,
  stream_broke: "数据流中断",
  voice_started: "语音对话已开始",
  voice_ended: "语音对话已结束",
  voice_failed: "语音对话失败",
  voice_user: "用户说",
  voice_assistant: "助手说",
  codex_warning: "警告",
  guardian: ({ status }) => `Guardian：${status}`,
  codex_shell_output: ({ exit_code, first = "无" }) =>
    `Shell 输出${exit_code === undefined ? "" : `（退出码 ${exit_code}）`}：${first}`,
};
