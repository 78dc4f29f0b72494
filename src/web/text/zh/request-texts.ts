import type { TextFormat } from "../../../model/forms/text-format.ts";
import type { Translation } from "../../../model/text/catalog.ts";
import type { requestTexts as english } from "../../../model/text/request-texts.ts";

const by = (from: string | undefined): string => (from === undefined ? "" : `（${from}）`);

interface Limits {
  least?: number | undefined;
  most?: number | undefined;
}

export const FORMATS: Readonly<Record<TextFormat, string>> = {
  email: "电子邮件地址",
  uri: "形如 https://example.org 的地址",
  date: "形如 2026-01-31 的日期",
  "date-time": "形如 2026-01-31T12:00:00Z 的日期和时间",
};

/** `3 到 5 个字符`, with the unit after the numbers. */
function limitsText(unit: string, { least, most }: Limits): string | undefined {
  if (least === undefined) return most === undefined ? undefined : `最多 ${most} ${unit}。`;
  return most === undefined ? `至少 ${least} ${unit}。` : `${least} 到 ${most} ${unit}。`;
}

function rangeText({ least, most }: Limits): string {
  if (least === undefined) return most === undefined ? "" : `，最大 ${most}`;
  return most === undefined ? `，最小 ${least}` : `，${least} 到 ${most}`;
}

export const requestTexts: Translation<typeof english> = {
  // Titles
  allow_tool: ({ tool, from }) => `允许 ${tool}？${by(from)}`,
  allow_call: ({ tool, call, from }) => `允许 ${tool}：${call}${by(from)}`,
  allow_command: ({ command = "一条命令" }) => `允许：${command}`,
  change_files: ({ file, more }) => (more === 0 ? `更改 ${file}` : `更改 ${file} 及另外 ${more} 个文件`),
  approve_plan: ({ from }) => `批准此计划？${by(from)}`,
  asks_for_information: "智能体需要一些信息",
  form_field: ({ message = "智能体需要一些信息", at, of, label }) =>
    `${message}${of > 1 ? `（${at} / ${of}）` : ""}：${label}`,

  // Options of approvals
  allow_every_call: ({ tool }) => `本会话内允许对 ${tool} 的所有调用`,
  allow_every_write: ({ path }) => `本会话内允许对 ${path} 的所有写入`,
  allow_every_search: ({ tool, path }) => `本会话内允许在 ${path} 中的所有 ${tool}`,
  allow_every_use: ({ tool, path }) => `本会话内允许对 ${path} 的所有 ${tool}`,
  always_allow: ({ rules, scope }) => `允许，并始终允许 ${rules}${by(scope)}`,
  allow_and_add_folder: ({ folders, scope }) => `允许，并添加目录 ${folders}${by(scope)}`,
  allow_and_switch_mode: ({ mode, scope }) => `允许，并切换到模式 ${mode}${by(scope)}`,
  accept_edits: "批准，并不再询问就接受编辑",
  switches_to_accept_edits: "将会话切换到 acceptEdits 模式。",
  agent_receives_text: "智能体会收到你的文字。",
  agent_receives_denial: "智能体会收到拒绝和你的文字，然后继续。",
  continues_without_it: "智能体会在没有它的情况下继续。",
  stops_turn: "停止本轮。",
  ends_turn_without_reason: "如果不说明原因，本轮会结束。",

  // Options of forms
  option_accept: "接受",
  option_send: "发送",
  option_edit: "修改回答",
  option_leave_empty: "留空",
  option_decline: "拒绝",
  option_decline_form: "拒绝整个表单",
  option_cancel: "取消",
  option_yes: "是",
  option_no: "否",
  option_default: "默认值",
  continues_without_information: "智能体会在没有此信息的情况下继续。",
  closes_form: "关闭表单，不回答。",

  // Rules of fields
  rule_choices: (limits) => limitsText("项", limits) ?? "",
  rule_text: ({ format, ...limits }) =>
    [format === undefined ? undefined : `${FORMATS[format]}。`, limitsText("个字符", limits)].join(""),
  rule_number: (limits) => `一个数字${rangeText(limits)}。`,
  rule_whole_number: (limits) => `一个整数${rangeText(limits)}。`,
};
