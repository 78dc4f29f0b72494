/** Records without content for the transcript, by record type or payload type. */
export const NOISE = new Set([
  "world_state",
  "security_risk_score",
  "configuration_update",
  "retained_context",
  "inter_agent_communication_metadata",
  "additional_tools",
  "ghost_snapshot",
  "thread_settings_applied",
  "turn_diff",
  "background_event",
  "shutdown_complete",
  "session_configured",
  "mcp_startup_update",
  "mcp_startup_complete",
  "account/rateLimits/updated",
  "state",
]);
