/** The version of the protocol. This file names the methods of it that are used. */
export const PROTOCOL_VERSION = 1;

/** Requests to the agent. */
export const AGENT_REQUESTS = {
  initialize: "initialize",
  authenticate: "authenticate",
  newSession: "session/new",
  listSessions: "session/list",
  loadSession: "session/load",
  resumeSession: "session/resume",
  closeSession: "session/close",
  prompt: "session/prompt",
  setOption: "session/set_config_option",
  /** For agents without options. Not in the stable part of the protocol. */
  setModel: "session/set_model",
} as const;
/** Notifications to the agent. */
export const CANCEL = "session/cancel";
/** Notifications and requests of the agent. */
export const UPDATE = "session/update";
export const REQUEST_PERMISSION = "session/request_permission";
export const ELICITATION = "elicitation/create";
/** Notification of either side that cancels one of its own requests. */
export const CANCEL_REQUEST = "$/cancel_request";
