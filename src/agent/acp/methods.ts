/** Version 1 of the protocol, by the names of its methods that are used here. */
export const PROTOCOL_VERSION = 1;

/** What the agent is asked. */
export const ASKS = {
  initialize: "initialize",
  authenticate: "authenticate",
  newSession: "session/new",
  loadSession: "session/load",
  resumeSession: "session/resume",
  closeSession: "session/close",
  prompt: "session/prompt",
  setOption: "session/set_config_option",
  /** Of agents that have no options: not in the protocol's stable part. */
  setModel: "session/set_model",
} as const;
/** What the agent is told. */
export const CANCEL = "session/cancel";
/** What the agent says, and asks. */
export const UPDATE = "session/update";
export const REQUEST_PERMISSION = "session/request_permission";
export const ELICITATION = "elicitation/create";
/** Either side takes a request of its own back. */
export const CANCEL_REQUEST = "$/cancel_request";
