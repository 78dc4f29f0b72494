import type { Optional } from "./title-words.ts";

/** A store in the data folder, and the ends of sentences about it. */
export type StoreName = "archive" | "sessions" | "notes" | "read_state" | "rules";
const STORES: Readonly<Record<StoreName, { untouched: string; reads: string; replacement: string }>> = {
  archive: {
    untouched: "nothing is archived",
    reads: "This daemon shows everything, but archives nothing.",
    replacement: "a new one is being built from the agents' files",
  },
  sessions: {
    untouched: "the sessions in it are not shown, and no session can be started",
    reads: "Sessions of the other daemon are shown as they were when this one started.",
    replacement: "a new one was created",
  },
  notes: {
    untouched: "notes cannot be read or written",
    reads: "Notes cannot be written here.",
    replacement: "a new one without notes was created",
  },
  read_state: {
    untouched: "read marks are not stored",
    reads: "Read marks set here are not stored.",
    replacement: "a new one was created, in which all sessions count as read",
  },
  rules: {
    untouched: "no rules apply",
    reads: "Rules cannot be changed here.",
    replacement: "a new one without rules was created",
  },
};

/** A setting in a file. `field`: its path, if it is one of them. */
type Setting = { file: string } & Optional<"field">;
const at = ({ file, field }: Setting): string => (field === undefined ? file : `${file}: ${field}`);

/** Notices, problems of files, and why agents cannot be used, with what the user can do about them. */
export const noticeTexts = {
  // Stores
  store_no_folder: ({ folder, error }: { folder: string; error: string }) =>
    `The data folder ${folder} cannot be created: ${error}.`,
  choose_writable_folder: "Use --data-dir to choose a folder that you can write to.",
  store_folder_unusable: ({ folder, error }: { folder: string; error: string }) =>
    `The data folder ${folder} cannot be used: ${error}.`,
  free_space_or_other_folder:
    "Free some disk space, or check its permissions. Verbatim retries automatically. Or choose another folder with --data-dir.",
  store_newer: ({
    path,
    found,
    known,
    store,
  }: {
    path: string;
    found: number;
    known: number;
    store: StoreName;
  }) =>
    `The store ${path} was written by a newer Verbatim (store version ${found}, supported up to ${known}). It was not changed; ${STORES[store].untouched}.`,
  start_newer: "Start the newer Verbatim, or choose another folder with --data-dir.",
  store_not_opened: ({ path, error }: { path: string; error: string }) =>
    `The store ${path} cannot be opened: ${error}.`,
  close_store_retried: "Close the store in the other program. Verbatim retries automatically.",
  free_space_retried: "Free some disk space or check the permissions. Verbatim retries automatically.",
  store_damaged: ({ error, moved_to, store }: { error: string; moved_to: string; store: StoreName }) =>
    `The store was damaged (${error}). It was moved to ${moved_to}, and ${STORES[store].replacement}.`,
  damaged_archive:
    "Sessions whose files the agents have deleted are only in the quarantined file. Keep it if you need them.",
  damaged_sessions: "Earlier sessions are in the quarantined file. Keep it if you need them.",
  damaged_notes: "Earlier notes are only in the quarantined file.",
  damaged_read_state: "Earlier pins and read marks are only in the quarantined file.",
  damaged_rules: "Earlier rules are only in the quarantined file.",
  store_not_moved: ({ path, damage, error }: { path: string; damage: string; error: string }) =>
    `The store ${path} is damaged (${damage}) and could not be moved: ${error}.`,
  move_store: ({ path }: { path: string }) => `Move ${path} away manually, then restart Verbatim.`,
  store_taken: ({ folder, store, pid }: { folder: string; store: StoreName; pid?: number | undefined }) =>
    `Another Verbatim${pid === undefined ? "" : ` (process ${pid})`} already uses the data folder ${folder}. ${STORES[store].reads}`,
  use_running_one:
    "Use the running one, or choose another folder for this one with --data-dir. When the other one ends, this one takes over automatically.",
  store_unreadable: ({ path, error }: { path: string; error: string }) =>
    `The store ${path} cannot be read: ${error}. Data that is only in it is not shown.`,
  restart_other: "Restart the other Verbatim. It quarantines the damaged store.",
  restart_quarantines: "Restart Verbatim. It quarantines the damaged store and creates a new one.",
  close_store: "Close the store in the other program. Writing then resumes automatically.",
  move_store_back:
    "Move the store back, and writing resumes automatically. Or restart Verbatim to use what is there now.",
  free_data_folder: "Free some space on the disk of the data folder. Writing then resumes automatically.",
  sessions_not_written: ({ error }: { error: string }) =>
    `Sessions cannot be written to disk: ${error}. They pause, and new output is only shown once it is stored.`,
  archive_not_written: ({ error }: { error: string }) =>
    `The archive cannot be written: ${error}. Sessions are shown as before, but new records are not archived.`,
  records_unreadable: ({ sessions, path, error }: { sessions: number; path: string; error: string }) =>
    `${sessions === 1 ? "The record of a session" : `The records of ${sessions} sessions`} cannot be read from ${path}: ${error}.`,
  start_with_new_file:
    "Other sessions are not affected. To start with a new file, stop Verbatim and move this one away. Keep a copy of it.",
  no_search_index: ({ path, error }: { path: string; error: string }) =>
    `The search index ${path} cannot be created: ${error}. Sessions cannot be searched.`,
  free_data_folder_restart: "Free some space on the disk of the data folder, then restart Verbatim.",
  no_samples: ({ error }: { error: string }) => `The sample sessions cannot be shown: ${error}.`,
  free_space_or_no_samples:
    "Free some disk space and check the permissions of the data folder, or start with --no-samples.",
  push_unreadable: ({ path, error }: { path: string; error: string }) =>
    `Push notifications are off: ${path} cannot be read: ${error}.`,
  check_permissions: "Check the permissions of the file, then restart Verbatim.",
  push_damaged: ({ path, moved_to }: { path: string; moved_to: string }) =>
    `Push notifications are off: ${path} was damaged. It was moved to ${moved_to}.`,
  push_on_again: "Switch push notifications on again in the settings of each browser.",

  // Files that are read
  path_no_permission: ({ path }: { path: string }) => `${path}: no permission to read it.`,
  give_permission: "Give the user who runs Verbatim permission to read it. Verbatim retries automatically.",
  path_unreadable: ({ path, error }: { path: string; error: string }) =>
    `${path}: it cannot be read: ${error}.`,
  path_missing: ({ path }: { path: string }) => `${path}: the path does not exist.`,
  path_not_file: ({ path }: { path: string }) => `${path}: it is not a regular file.`,
  path_no_session: ({ path }: { path: string }) => `${path}: it contains no session that Verbatim can read.`,
  path_switched_off: ({ path, agent }: { path: string; agent: string }) =>
    `${path}: ${agent} is switched off in the settings.`,
  repair_or_remove: "Repair or remove it. Verbatim retries automatically.",
  choices_unreadable: ({ file, error }: { file: string; error: string }) =>
    `${file} cannot be read, so all agents are read: ${error}.`,
  choices_format: ({ file }: { file: string }) =>
    `${file} cannot be read, so all agents are read: it is not {"off": ["agent", …]}.`,
  fix_or_remove: "Fix or remove the file, then start Verbatim again.",

  // Agents in terminals
  attach_unknown: ({ agent, error }: { agent: string; error: string }) =>
    `Whether ${agent} is attached cannot be determined: ${error}`,
  attach_not_answered: "Until the file can be read, its sessions in terminals cannot be answered here.",
  terminals_not_answered: ({ error }: { error: string }) =>
    `Agents in terminals cannot be answered from Verbatim: ${error}.`,
  free_space_restart: "Free some disk space and check the permissions of the data folder, then restart.",

  // Configuration
  config_unreadable: ({ file, error }: { file: string; error: string }) =>
    `${file}: cannot be read: ${error}.`,
  config_not_object: ({ file }: { file: string }) => `${file}: it is not a JSON object.`,
  config_not_json: ({ file, error }: { file: string; error: string }) => `${file}: invalid JSON: ${error}.`,
  config_unknown: ({ known, ...setting }: Setting & { known: string }) =>
    `${at(setting)}: unknown setting. Supported: ${known}.`,
  config_no_object: (setting: Setting) => `${at(setting)}: must be an object.`,
  config_no_list: (setting: Setting) => `${at(setting)}: must be a list.`,
  config_name: (setting: Setting) =>
    `${at(setting)}: a name can contain letters, digits, dots, dashes and underscores.`,
  config_taken: (setting: Setting) => `${at(setting)}: a provider already has this name. Choose another one.`,
  config_invalid: ({ problem, ...setting }: Setting & { problem: string }) => `${at(setting)}: ${problem}.`,
  fix_and_restart: "Fix the file, then restart Verbatim.",
  keys_exposed: ({ file }: { file: string }) => `${file} can be read by other users. Its keys are not used.`,
  protect_keys: ({ file }: { file: string }) =>
    `Run chmod 600 ${file}, and replace the keys if others may have read them.`,
  keys_not_json: ({ file }: { file: string }) => `${file} cannot be read as JSON.`,
  keys_not_object: ({ file }: { file: string }) => `${file} is not a JSON object.`,
  write_keys: 'Write it as {"anthropic": "sk-…"}.',
  key_invalid: ({ file, id }: { file: string; id: string }) => `${file}: ${id}: invalid key.`,
  mcp_server_unusable: ({ server, error }: { server: string; error: string }) =>
    `The MCP server ${server} cannot be used: ${error}.`,
  mcp_server_tried_again:
    "If it has ended or did not answer, it is tried again when the next session starts. Otherwise fix mcp_servers in config.json in the data folder, then restart Verbatim.",

  // Agents that cannot be used
  rules_unreadable: "The rules in config.json cannot be read. Nothing that they may forbid is run.",
  no_base_url: ({ provider }: { provider: string }) => `${provider} has no base URL.`,
  add_base_url: ({ id }: { id: string }) =>
    `Add "providers": {"${id}": {"base_url": "http://…"}} to config.json in the data folder.`,
  protocol_unsupported: ({ provider, protocol }: { provider: string; protocol: string }) =>
    `${provider} cannot be used: its protocol ${protocol} is not supported.`,
  choose_provider: "Choose another provider.",
  needs_key: ({ provider }: { provider: string }) => `${provider} needs an API key.`,
  set_key_from_or_write: ({ variable, source, id }: { variable: string; source: string; id: string }) =>
    `Set ${variable} to a key from ${source}. ${orWriteKey(id)}`,
  set_key_for_or_write: ({ variable, provider, id }: { variable: string; provider: string; id: string }) =>
    `Set ${variable} to an API key for ${provider}. ${orWriteKey(id)}`,
  needs_adapter: ({ agent }: { agent: string }) => `${agent} needs an adapter.`,
  install_adapter: ({ package: name }: { package: string }) =>
    `Run \`npm install -g ${name}\`, then restart Verbatim.`,
};

function orWriteKey(id: string): string {
  return `Or write {"${id}": "…"} to keys.json in the data folder, and chmod 600 it. Then start Verbatim again.`;
}
