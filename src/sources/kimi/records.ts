import { asText, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition } from "../contract.ts";

/** Records for the agent's internal use. */
export const BOOKKEEPING: ReadonlySet<string> = new Set([
  "agent.turn.ended",
  "agent.turn.started",
  "context.update_token_count",
  "context_size.measured",
  "cron.add",
  "cron.cursor",
  "cron.delete",
  "file_history.checkpoint",
  "file_history.tracked",
  "goal.account_usage",
  "goal.continuation",
  "human.agent.turn.ended",
  "human.agent.turn.started",
  "interaction.request",
  "interaction.resolved",
  "interruptionReminder.recorded",
  "llm.tools_snapshot",
  "mcp.tools_discovered",
  "permission.rules.add",
  "plan.revision",
  "plugin.session_start",
  "prompt.aborted",
  "prompt.accepted",
  "prompt.completed",
  "prompt.steered",
  "runtime.set_binding",
  "task.started",
  "task.terminated",
  "task.waitDelivered",
  "token_counting.measured",
  "token_counting.rebased",
  "token_counting.truncated",
  "token_counting.turn_recorded",
  "tools.register_user_tool",
  "tools.reset_active_tools",
  "tools.set_active_tools",
  "tools.unregister_user_tool",
  "turn.started",
  "turn.step.completed",
  "turn.step.started",
]);

/** Records of which another one contains everything that is shown, and what that is. */
export const FOLDED: Readonly<Record<string, Extract<Disposition, { kind: "folded" }>["into"]>> = {
  metadata: "the session",
  "full_compaction.begin": "the compaction",
  "full_compaction.complete": "the compaction",
  "tools.update_store": "the to-do list",
  "agent.switched": "the undo after it",
  "context.undone": "the undo before it",
  "turn.step.interrupted": "the end of its turn",
  "subagent.cancelled": "the call that started it",
  "subagent.completed": "the call that started it",
  "subagent.failed": "the call that started it",
  "subagent.started": "the call that started it",
};

/** Records that change the agent's modes, and their texts. */
export const MODES: Readonly<Record<string, (value: JsonObject) => CodedText>> = {
  "plan_mode.enter": () => sourceTitle("plan_mode_entered"),
  "plan_mode.exit": () => sourceTitle("plan_mode_left"),
  "plan_mode.cancel": () => sourceTitle("plan_mode_cancelled"),
  "swarm_mode.enter": () => sourceTitle("swarm_mode_entered"),
  "swarm_mode.exit": () => sourceTitle("swarm_mode_left"),
  "tower_mode.enter": () => sourceTitle("tower_mode_entered"),
  "tower_mode.exit": () => sourceTitle("tower_mode_left"),
  "permission.set_mode": ({ mode }) => sourceTitle("permission_mode", { mode: asText(mode) }),
  "goal.create": ({ objective }) => sourceTitle("goal", { goal: asText(objective) }),
  "goal.update": ({ status }) => sourceTitle("goal_updated", { status: asText(status) }),
  "goal.clear": () => sourceTitle("goal_cleared"),
  "context.clear": () => sourceTitle("context_cleared"),
  "full_compaction.cancel": () => sourceTitle("compaction_cancelled"),
  "micro_compaction.apply": () => sourceTitle("old_results_removed"),
  "skill.activate": ({ name, skillName }) =>
    sourceTitle("skill_activated", { skill: asText(skillName) ?? asText(name) }),
  forked: () => sourceTitle("forked"),
};
