/** Names of the methods that are used, from version 1 of the protocol. */
export const PROTOCOL_VERSION = 1;

/** Requests to the agent. */
export const ASKS = {
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
/** Either side cancels a request of its own. */
export const CANCEL_REQUEST = "$/cancel_request";
