import type { Translation } from "../../../model/text/catalog.ts";
import type { queryTexts as english } from "../../../model/text/query-texts.ts";

const NAMES: Readonly<Record<string, string>> = { scope: "会话筛选条件", query: "查询" };
const at = (field: string | undefined): string => (field === undefined ? "" : `${NAMES[field]}：`);

/** Errors in search queries and rules. */
export const queryTexts: Translation<typeof english> = {
  query_kind_unknown: ({ value, field, known }) => `${at(field)}未知的 kind:${value}。可用的值：${known}。`,
  query_status_unknown: ({ value, field, known }) =>
    `${at(field)}未知的 status:${value}。可用的值：${known}。`,
  query_is_unknown: ({ value, field, known }) => `${at(field)}未知的 is:${value}。可用的值：${known}。`,
  query_has_unknown: ({ value, field, known }) => `${at(field)}未知的 has:${value}。可用的值：${known}。`,
  query_not_expression: ({ value, field, error }) => `${at(field)}/${value}/ 不是正则表达式：${error}`,
  query_not_time: ({ value, field }) =>
    `${at(field)}${value} 不是时间。请使用日期（如 2026-07-16）或时长（如 7d、12h）。`,
  rule_scope_only_filters: "会话只能用 project:、agent:、model:、session: 和 is:run 筛选。",
  rule_query_empty: "查询为空。请输入词语或筛选条件，例如 kind:call tool:Bash status:failed。",
  rule_query_asks_for_notes: "规则只针对已记录的内容，因此不能查询备注。",
  rule_has_time: ({ field }) => `${NAMES[field]}中不能使用 after: 或 before:。规则只针对此后记录的内容。`,
};
