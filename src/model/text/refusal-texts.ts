import { nameOfFormat, type TextFormat } from "../forms/text-format.ts";
import type { Optional } from "./title-words.ts";

/** What a person wrote that could not be stored. */
type Mark = "note" | "rule";
const MARKS: Readonly<Record<Mark, { all: string; one: string }>> = {
  note: { all: "Notes cannot be written", one: "The note could not be stored" },
  rule: { all: "Rules cannot be changed", one: "The rule could not be stored" },
};

/** Why requests are refused, and what the user can do about it. */
export const refusalTexts = {
  // Sessions and their parts
  session_unknown: "There is no such session.",
  reload_list: "Reload the list of sessions.",
  part_unknown: "The session has no such part.",
  turn_unknown: ({ turn }: { turn: string | number }) => `The session has no turn ${turn}.`,
  model_call_unknown: "The session has no such model call, or the call has no such item.",
  record_gone: "The session's record is gone.",
  output_gone: "The file with the complete output is not in the session's folder, or no longer exists.",
  part_not_indexed: "This part of the session is not in the search index, which is being built.",
  try_in_minutes: "Try again in a few minutes.",

  // Parameters and bodies
  route_unknown: "No such route.",
  internal_error: "Internal error.",
  see_log: "See the daemon's log in the terminal.",
  body_cut_off: "The body was cut off.",
  body_not_json: "The body is not valid JSON.",
  body_too_long: ({ limit }: { limit: number }) => `A body can have at most ${limit} bytes.`,
  compared_unknown: "`with` must be the id of another session.",
  call_or_part: "Exactly one of `call` and `part` is required, and `find` can have at most 1,000 characters.",
  turn_not_number: "`turn` must be a number from 1.",
  format_not_known: ({ formats }: { formats: string }) => `\`format\` must be one of ${formats}.`,
  from_not_position: "`from` must be a position from 0.",
  range_not_positions: "`from` and `to` must be positions from 0, in ascending order.",
  one_place: "Exactly one of `part`, `turn`, `call` and `error` is required.",
  error_not_position: "`error` must be a position from 0, and `by` 1 or -1.",
  search_too_long: ({ limit }: { limit: number }) => `A search can have at most ${limit} characters.`,
  filter_not_known: ({ kinds, statuses }: { kinds: string; statuses: string }) =>
    `\`kind\` must be one of ${kinds}; \`status\` one of ${statuses}.`,
  usage_by_not_known: ({ groups }: { groups: string }) => `\`by\` must be one of ${groups}.`,
  usage_since_not_time: "`since` must be a time in milliseconds since 1970.",
  usage_zone_not_known: "`zone` must be a time zone, such as `Europe/Berlin`.",

  // Searches and rules
  search_needs_words: ({ limit }: { limit: number }) =>
    `\`q\` is required: words to search for, at most ${limit} characters.`,
  search_limit_range: ({ most }: { most: number }) => `\`limit\` must be a number from 1 to ${most}.`,
  search_sort_not_known: "`sort` must be `newest` or `rank`.",
  search_timeout: "The search took longer than 10 seconds and was stopped.",
  simpler_expression: "Use a simpler expression, or add words.",
  no_index: "This daemon has no index of past sessions.",
  rule_id_not_uuid: "The rule's id must be a UUID.",
  too_many_rules: ({ limit }: { limit: number }) => `There can be at most ${limit} rules. Delete one first.`,
  rule_too_slow: ({ limit }: { limit: number }) =>
    `Its expression took longer than ${limit} ms on one part. Use a simpler one, then switch it on.`,

  // Notes and stores
  note_of_other_session: "A note of another session has this id.",
  opened_not_stored: "Opened files are not stored, so their sessions cannot have notes.",
  too_many_notes: ({ limit }: { limit: number }) => `A session can have at most ${limit} notes.`,
  note_deleted: "The note was deleted.",
  note_changed: "The note was changed in another browser meanwhile.",
  copy_and_edit_again: "Copy your text, cancel, and edit the note again.",
  mark_read_only: ({ mark }: { mark: Mark }) => `${MARKS[mark].all}: this daemon cannot write its store.`,
  see_notices:
    "If another Verbatim uses the data folder, use that one. Otherwise see the notices above the list.",
  mark_not_stored: ({ mark, error }: { mark: Mark; error: string }) => `${MARKS[mark].one}: ${error}.`,
  free_space_try_again: "Free some disk space or check the permissions of the data folder, then try again.",
  choice_not_stored: ({ error }: { error: string }) => `The choice could not be stored: ${error}.`,
  free_space_and_check: "Free some disk space and check the permissions of the data folder.",
  other_daemon: "Another daemon uses this data folder.",
  change_there: "Change it there.",
  agent_not_known: ({ agent }: { agent: string }) => `Unknown agent ${agent}.`,
  push_not_stored: ({ error }: { error: string }) => `The subscription could not be stored: ${error}.`,
  free_data_folder_try_again: "Free some space on the disk of the data folder, then try again.",

  // Opened files
  opened_file_closed: "This file is no longer open.",
  open_again: "Open it again.",
  body_longer_than_files: "The body is longer than its files.",
  file_list_too_long: "The list of files is too long.",
  first_line_not_json: "The body's first line is not valid JSON.",
  opened_together_too_large: ({ limit }: { limit: string }) =>
    `Files opened together can have at most ${limit}.`,
  opened_all_too_large: ({ limit }: { limit: string }) =>
    `All opened files together can have at most ${limit}.`,
  close_opened: "Close pages with other opened files.",
  files_empty: ({ files }: { files: number }): string =>
    files > 1 ? "These files are empty." : "This file is empty.",
  no_session_in_file: "It contains no session of a supported agent.",
  formats_documented: "docs/agents.md lists the formats.",
  database_not_opened: "A database cannot be opened here. Open it with `npm start -- PATH`.",
  file_too_large: ({ limit, name }: { limit: string; name: string }) =>
    `A file can have at most ${limit}. Open it with \`npm start -- ${name}\`.`,

  // Sessions that Verbatim runs
  id_in_file: "A session in an agent's file has this id.",
  choose_uuid: "Choose another UUID.",
  id_of_other_session: "`session_id`: another session has this id.",
  session_pushed: "This session is pushed by another program. Verbatim does not run its agent.",
  no_sessions_run: ({ reason }: { reason: string }) => `No sessions can be run. ${reason}`.trim(),
  not_on_disk: "The change is not on disk yet: the data folder cannot be written.",
  free_space: "Free some disk space. The change is stored then.",
  agent_unknown: ({ agent }: { agent: string }) => `\`agent\`: unknown agent ${JSON.stringify(agent)}.`,
  no_images: "`prompt.images`: this agent does not accept images.",
  script_unknown: ({ script, known }: { script: string; known: string }) =>
    `Unknown script "${script}". Available: ${known}. For your own use file:/path.json`,
  script_unreadable: ({ path, error }: { path: string; error: string }) =>
    `The script ${path} cannot be read: ${error}.`,
  cannot_fork: "Sessions of this agent cannot be forked, because the agent keeps its own state.",
  cannot_rewind: "Sessions of this agent cannot be rewound, because the agent keeps its own state.",
  agent_running: "The agent is running.",
  stop_or_wait: "Stop it, or wait until its turn ends.",
  wait_for_turn: "Wait until its turn ends.",
  before_unknown: "`before`: no turn of the session begins with this prompt.",
  use_prompt_id: "Use the id of a prompt's part or message.",
  agent_not_configured: ({ agent }: { agent: string }) =>
    `The agent ${JSON.stringify(agent)} of this session is no longer configured.`,
  add_to_config: "Add it to config.json in the data folder, then restart Verbatim.",
  cannot_compact: "This agent cannot compact its context.",
  cannot_switch_model: "This agent's model cannot be changed.",
  prompt_unknown: "No such prompt is queued.",
  prompt_withdrawn: "This prompt was already withdrawn.",
  prompt_begun: "The agent already has this prompt.",
  stop_instead: "Stop the agent instead.",
  request_unknown: "The session has no such request.",
  model_missing: "`model`: choose a model.",
  folder_unknown: ({ folder }: { folder: string }) => `\`cwd\`: no such folder: ${folder}.`,
  folder_not_absolute: "`cwd`: must be an absolute path.",
  prompt_id_not_uuid: "`prompt.message_id`: must be a UUID.",
  prompt_empty: "`prompt.text`: must not be empty.",
  prompt_too_long: ({ limit }: { limit: number }) =>
    `\`prompt.text\`: a prompt can have at most ${limit} characters.`,
  too_many_images: ({ limit }: { limit: number }) =>
    `\`prompt.images\`: a prompt can have at most ${limit} images.`,
  not_an_image: ({ field }: { field: string }) =>
    `\`${field}\`: must be a data URL of a PNG, JPEG, GIF or WebP image.`,
  image_too_large: ({ field, limit }: { field: string; limit: number }) =>
    `\`${field}\`: an image can have at most ${limit} bytes.`,
  record_unreadable: ({ path, error }: { path: string; error: string }) =>
    `The record of this session cannot be read from ${path}: ${error}.`,

  // Past sessions of agents
  no_past_sessions: ({ agent }: { agent: string }) => `${agent} has no past sessions of its own.`,
  open_elsewhere: ({ id }: { id: string }) =>
    `The session ${id} is open in another process. Two processes on one session write to the same history.`,
  close_there: "Close it there, then open it here.",
  past_no_list: ({ agent }: { agent: string }) =>
    `${agent} does not list its past sessions: it does not announce \`session/list\`. A newer version may.`,
  past_no_open: ({ agent }: { agent: string }) =>
    `${agent} cannot open past sessions: it announces neither \`session/load\` nor \`session/resume\`. Start a new session.`,
  past_stopped: ({ agent, id }: { agent: string } & Optional<"id">) =>
    `${agent} was stopped before it could ${pastAction(id)}.`,
  past_overdue: ({
    agent,
    id,
    seconds,
    command,
  }: { agent: string; seconds: number; command: string } & Optional<"id">) =>
    `${agent} did not ${pastAction(id)} within ${seconds} s. Run ${command} in a terminal to see what it waits for, then try again.`,
  past_failed: ({ agent, id, error }: { agent: string; error: string } & Optional<"id">) =>
    `${agent} could not ${pastAction(id)}: ${error}`,

  // Answers
  request_changed: "The request has changed since the answer was given.",
  reload_and_check: "Reload the page and check it again.",
  option_unknown: ({ option }: { option: string }) =>
    `\`answer.option_ids\`: unknown option ${JSON.stringify(option)}.`,
  one_option: "`answer.option_ids`: only one option can be chosen.",
  answer_with_option: "`answer.text`: this request must be answered with an option.",
  option_missing: "`answer.option_ids`: choose an option.",
  answered_elsewhere: "This has been answered in another window.",
  answered_in_terminal: "This has been answered in the terminal.",
  left_to_terminal: "This was left to the terminal: answer it there.",
  answer_not_logged: ({ error }: { error: string }) =>
    `The answer could not be logged, so it was not given: ${error}.`,
  answer_in_terminal: "Answer in the terminal, or free some disk space.",
  choose_option: "Choose an option.",
  choose_least: ({ least }: { least: number }) => `Choose at least ${least}.`,
  choose_most: ({ most }: { most: number }) => `Choose at most ${most}.`,
  enter_least_characters: ({ least }: { least: number }) => `Enter at least ${least} characters.`,
  enter_most_characters: ({ most }: { most: number }) => `Enter at most ${most} characters.`,
  enter_format: ({ format }: { format: TextFormat }) => `Enter ${nameOfFormat(format).replace(/^A/, "a")}.`,
  enter_number: "Enter a number.",
  enter_whole_number: "Enter a whole number.",
  enter_least: ({ least }: { least: number }) => `Enter a number of at least ${least}.`,
  enter_most: ({ most }: { most: number }) => `Enter a number of at most ${most}.`,
  passphrase_unreadable: ({ file }: { file: string }) =>
    `The passphrase for answers cannot be read from ${file}.`,
  delete_passphrase: "To remove it, delete the file and restart Verbatim.",
  too_many_passphrases: "Too many wrong passphrases.",
  wait_a_minute_try: "Wait a minute, then try again.",
  passphrase_wrong: "Wrong passphrase.",
  passphrase_short: ({ least }: { least: number }) => `\`next\`: use at least ${least} characters.`,
  passphrase_not_changed: ({ error }: { error: string }) => `The passphrase was not changed: ${error}.`,
  passphrase_needed: "Answers need the passphrase.",
  enter_passphrase: "Enter it in the page that answers.",

  // Agents in terminals
  cannot_attach: ({ agent }: { agent: string }) => `Agent ${agent} cannot be attached.`,
  not_in_agent: "This session is not open in an agent that can be reached from here.",
  not_in_codex: "This session is not open in a Codex that can be reached from here.",
  not_in_opencode: "This session is not open in an opencode that can be reached from here.",
  codex_not_running: "Codex's app server is not running.",
  agent_refused: ({ agent, reason }: { agent: string; reason: string }) => `${agent} refused: ${reason}`,
  opencode_silent: "opencode did not answer.",
  opencode_ended: "opencode has ended.",
  nothing_running: "Nothing is running in this session.",
  file_not_read: ({ path, error }: { path: string; error: string }) =>
    `${path} could not be read: ${error}. Check that it is a file and that you may read it.`,
  file_not_changed: ({ path, error }: { path: string; error: string }) =>
    `${path} could not be changed: ${error}. Nothing was changed.`,
  settings_format: "The settings file does not have the agent's format. Fix it first. Nothing was changed.",
  no_unix_sockets: "Attaching needs Unix sockets, which Verbatim does not use on Windows.",
  socket_path_too_long: ({ path }: { path: string }) =>
    `The path ${path} is too long for a socket: use a shorter --data-dir.`,

  // Access
  too_many_logins: "Too many failed logins.",
  wait_a_minute: "Wait a minute.",
  token_wrong: "Wrong token.",
  use_api_token:
    "Use the `api_token` in access.json in the data folder. The token that `npm start -- token` prints can only push sessions.",
  token_missing: "Pushing requires a bearer token.",
  print_token: "`npm start -- token` prints it.",
  not_logged_in: "This browser is not logged in.",
  open_launch_link: "Open a new launch link: `npm start -- --link` prints one.",
  no_origin: "No Origin and no token.",
  header_missing: ({ header }: { header: string }) => `The header ${header} is missing.`,
  method_unsupported: ({ method }: { method: string }) => `${method} is not supported.`,
  other_site: "Requests from other sites are refused.",
  page_not_confirmed: "The browser did not confirm that this request comes from Verbatim's own page.",
  use_other_browser: "Use a browser that sends Sec-Fetch-Site, or a bearer token.",
  password_wrong: "Wrong password.",
  link_prefetched: "Launch links cannot be prefetched.",
  socket_elsewhere: ({ path }: { path: string }) => `Sockets can be opened at ${path} only.`,
  not_served_here: "Verbatim is not served at this address.",
  open_address: ({ address }: { address: string }) => `Open ${address} instead.`,
  target_not_path: "The request target is not a path.",
  origin_differs: ({ origin, host }: { origin: string; host: string }) =>
    `The page's origin is ${origin}, but the request was sent to ${host}.`,
  forward_host: "A proxy in between must forward the original Host header.",
  type_not_accepted: ({ accepted }: { accepted: string }) => `Only ${accepted} is accepted.`,

  // Live channels
  message_invalid: "Invalid message.",
  too_many_channels: ({ limit }: { limit: number }) => `A socket can have at most ${limit} channels.`,
  channel_failed: "The channel could not be opened. See the daemon's log in the terminal.",
  channel_unknown: "No such channel.",
};

/** What an agent was asked to do. `id`: the session to be opened. Absent: all are listed. */
function pastAction(id: string | undefined): string {
  return id === undefined ? "list its sessions" : `open its session ${id}`;
}
