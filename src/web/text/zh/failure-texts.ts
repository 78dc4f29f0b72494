import type { Translation } from "../../../model/text/catalog.ts";
import type { failureTexts as english, KeyParams } from "../../../model/text/failure-texts.ts";

const setKey = ({ variable, place, provider }: KeyParams): string =>
  place === undefined
    ? `请将 ${variable} 设为 ${provider} 的 API 密钥。`
    : `请将 ${variable} 设为在 ${place} 获取的密钥。`;

const further = (key: KeyParams): string => (key.variable === undefined ? "" : setKey(key));

const NAMES: Readonly<Record<string, string>> = {
  overloaded: "提供商过载",
  rate_limit: "达到速率限制",
  quota: "额度已用完",
  context_overflow: "超出模型的上下文长度",
  auth: "密钥被拒绝",
  invalid_request: "请求被拒绝",
  not_found: "未找到",
  model_output_invalid: "模型的输出无效",
  content_blocked: "提供商拦截了内容",
  server: "提供商出错",
  network: "连接中断",
  timeout: "未及时回答",
  truncated: "回答被截断",
};

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} 秒`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} 分钟` : `${Math.round(minutes / 60)} 小时`;
}

/** Why calls of models failed, and what the user can do. */
export const failureTexts: Translation<typeof english> = {
  retrying_in: ({ failure, seconds, attempt, attempts }) =>
    `${NAMES[failure] ?? "模型调用失败"}；${seconds} 秒后重试（第 ${attempt} 次，共 ${attempts} 次）`,

  // Messages
  empty_error_response: ({ status }) => `提供商返回状态 ${status}，响应体为空`,
  provider_error: ({ error }) => `提供商报告错误：${error}`,
  provider_error_without_details: "提供商报告了没有详情的错误",
  connection_failed: ({ reason }) => `与提供商的连接失败：${reason}`,
  provider_silent: ({ seconds }) => `提供商已有 ${seconds} 秒没有发送任何内容`,
  answer_incomplete: "提供商的回答在完成之前就结束了",
  answer_refused: "提供商拒绝回答",
  answer_refused_for: ({ reason }) => `提供商拒绝回答（${reason}）`,
  prompt_blocked: ({ reason }) => `提供商拦截了此提示词（${reason}）`,
  stopped_for_unknown_reason: ({ reason }) => `提供商因未知原因停止：${reason}`,
  no_stop_reason: "提供商没有发送停止原因",
  response_failed: "提供商的响应失败，没有说明原因",
  answer_invalid: ({ reason }) => `模型的回答无效（${reason}）`,
  answer_empty: "模型的回答为空",
  summary_empty: "模型的总结为空",
  provider_answer_empty: "提供商的回答为空",
  provider_answer_failed: "提供商的回答以错误结束",
  event_not_json: ({ event }) => `提供商发送了不是 JSON 的事件：${event}`,
  event_invalid: ({ reason, event }) => `提供商发送了无效的事件（${reason}）：${event}`,
  request_not_created: ({ reason }) => `无法创建请求：${reason}`,
  no_api_key: ({ provider }) => `${provider} 没有 API 密钥`,

  // Remedies
  set_key_from: (key) => setKey(key),
  set_key_for: (key) => setKey(key),
  check_key_access: (key) => `请检查此 API 密钥是否有权使用此模型。${further(key)}`,
  check_key: (key) => `请检查此提供商的 API 密钥：它缺失、有误或已失效。${further(key)}`,
  no_credit: "账户余额不足。请检查套餐和账单，或使用其他提供商。",
  rate_limit_reached: "账户已达到速率限制。请稍等，或减少一次发送的内容。",
  rate_limit_reached_until: ({ seconds }) => `账户已达到速率限制。请在 ${duration(seconds)}后重试。`,
  provider_overloaded: "提供商过载或出现问题。请稍后重试。",
  conversation_too_long: "对话超出此模型的长度。请压缩对话，或在新会话中继续。",
  check_model_name: "请检查模型名称和提供商的基础 URL。",
  check_network: "请检查网络，以及提供商的基础 URL 和代理（如已配置）。",
  longer_timeout_needed: "请重试。模型长时间思考而没有输出时，需要更长的超时时间。",
  connection_closed_early: "请重试。连接过早关闭。",
  rephrase_prompt: "请换一种说法，或使用其他模型。下一条提示词会将本轮移出上下文。",
  output_not_parsed: "请重试。无法解析模型的输出。",
  request_rejected: "提供商拒绝了请求。它的消息可能指出了不支持的设置。",
};
