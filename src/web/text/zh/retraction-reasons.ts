import type { Translation } from "../../../model/text/catalog.ts";
import type { retractionReasons as english } from "../../../model/text/retraction-reasons.ts";

export const retractionReasons: Translation<typeof english> = {
  replaced_by_later_answer: "已被后来的回答取代",
  retracted_by_refusal: "模型拒绝回答",
  retracted_by_user: "用户操作",
  retracted_by_rewind: "已回退",
  retracted_by_rewind_to_prompt: "已回退到更早的提示词",
  retracted_by_rewind_of_model: "被模型回退",
  rolled_back: "已回滚",
  retracted_by_undo: "已撤销",
  undone_by_user: "被用户撤销",
  undone_in: ({ agent }) => `已在 ${agent} 中撤销`,
  removed_by: ({ agent }) => `被 ${agent} 移除`,
  deleted_in: ({ agent }) => `已在 ${agent} 中删除`,
  branch_abandoned: "已放弃：另一个分支从更早的条目继续",
  failed_and_sent_again: "请求失败，已重新发送",
  step_restarted: "该步骤已重新开始",
};
