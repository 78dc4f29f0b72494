import type { Translation } from "../../../model/text/catalog.ts";
import type { noticeTexts as english, StoreName } from "../../../model/text/notice-texts.ts";

const STORES: Readonly<Record<StoreName, { untouched: string; reads: string; replacement: string }>> = {
  archive: {
    untouched: "因此不会归档任何内容",
    reads: "此守护进程会显示全部内容，但不归档。",
    replacement: "正在根据智能体的文件重新建立",
  },
  sessions: {
    untouched: "其中的会话不会显示，也不能新建会话",
    reads: "另一个守护进程的会话按此守护进程启动时的状态显示。",
    replacement: "并新建了一个",
  },
  notes: {
    untouched: "因此备注无法读取或写入",
    reads: "在这里不能写备注。",
    replacement: "并新建了一个没有备注的存储",
  },
  read_state: {
    untouched: "因此已读标记不会保存",
    reads: "在这里设置的已读标记不会保存。",
    replacement: "并新建了一个，其中所有会话都算作已读",
  },
  rules: {
    untouched: "因此没有规则生效",
    reads: "在这里不能更改规则。",
    replacement: "并新建了一个没有规则的存储",
  },
};

const at = ({ file, field }: { file: string; field?: string | undefined }): string =>
  field === undefined ? file : `${file}：${field}`;

const orWriteKey = (id: string): string =>
  `或者在数据目录的 keys.json 中写入 {"${id}": "…"}，并对它执行 chmod 600。然后重新启动 Verbatim。`;

/** Notices, problems of files, and why agents cannot be used, with what the user can do about them. */
export const noticeTexts: Translation<typeof english> = {
  // Stores
  store_no_folder: ({ folder, error }) => `无法创建数据目录 ${folder}：${error}。`,
  choose_writable_folder: "请用 --data-dir 指定一个可写的目录。",
  store_folder_unusable: ({ folder, error }) => `无法使用数据目录 ${folder}：${error}。`,
  free_space_or_other_folder:
    "请释放磁盘空间，或检查其权限；Verbatim 会自动重试。也可以用 --data-dir 指定另一个目录。",
  store_newer: ({ path, found, known, store }) =>
    `存储 ${path} 由更新版本的 Verbatim 写入（存储版本 ${found}，最高支持 ${known}）。它没有被更改，${STORES[store].untouched}。`,
  start_newer: "请启动更新版本的 Verbatim，或用 --data-dir 指定另一个目录。",
  store_not_opened: ({ path, error }) => `无法打开存储 ${path}：${error}。`,
  close_store_retried: "请在另一个程序中关闭该存储。Verbatim 会自动重试。",
  free_space_retried: "请释放磁盘空间或检查权限。Verbatim 会自动重试。",
  store_damaged: ({ error, moved_to, store }) =>
    `存储已损坏（${error}）。它已移至 ${moved_to}，${STORES[store].replacement}。`,
  damaged_archive: "文件已被智能体删除的会话只保存在隔离的文件中。如果需要这些会话，请保留该文件。",
  damaged_sessions: "之前的会话在隔离的文件中。如果需要这些会话，请保留该文件。",
  damaged_notes: "之前的备注只保存在隔离的文件中。",
  damaged_read_state: "之前的置顶和已读标记只保存在隔离的文件中。",
  damaged_rules: "之前的规则只保存在隔离的文件中。",
  store_not_moved: ({ path, damage, error }) => `存储 ${path} 已损坏（${damage}），并且无法移走：${error}。`,
  move_store: ({ path }) => `请手动移走 ${path}，然后重启 Verbatim。`,
  store_taken: ({ folder, store, pid }) =>
    `另一个 Verbatim${pid === undefined ? "" : `（进程 ${pid}）`}正在使用数据目录 ${folder}。${STORES[store].reads}`,
  use_running_one:
    "请使用正在运行的那一个，或用 --data-dir 为这一个指定另一个目录。另一个结束后，这一个会自动接替。",
  store_unreadable: ({ path, error }) => `无法读取存储 ${path}：${error}。只保存在其中的数据不会显示。`,
  restart_other: "请重启另一个 Verbatim。它会隔离损坏的存储。",
  restart_quarantines: "请重启 Verbatim。它会隔离损坏的存储并新建一个。",
  close_store: "请在另一个程序中关闭该存储。之后会自动恢复写入。",
  move_store_back: "请把存储移回原处，之后会自动恢复写入。也可以重启 Verbatim，使用现有的内容。",
  free_data_folder: "请释放数据目录所在磁盘的空间。之后会自动恢复写入。",
  sessions_not_written: ({ error }) => `会话无法写入磁盘：${error}。会话已暂停，新的输出在保存之后才会显示。`,
  archive_not_written: ({ error }) => `无法写入归档：${error}。会话照常显示，但新的记录不会归档。`,
  records_unreadable: ({ sessions, path, error }) =>
    `无法从 ${path} 读取${sessions === 1 ? "一个会话" : ` ${sessions} 个会话`}的记录：${error}。`,
  start_with_new_file: "其他会话不受影响。要改用新文件，请停止 Verbatim 并移走此文件。请保留它的副本。",
  no_search_index: ({ path, error }) => `无法创建搜索索引 ${path}：${error}。会话无法搜索。`,
  free_data_folder_restart: "请释放数据目录所在磁盘的空间，然后重启 Verbatim。",
  no_samples: ({ error }) => `无法显示示例会话：${error}。`,
  free_space_or_no_samples: "请释放磁盘空间并检查数据目录的权限，或用 --no-samples 启动。",
  push_unreadable: ({ path, error }) => `推送通知已关闭：无法读取 ${path}：${error}。`,
  check_permissions: "请检查该文件的权限，然后重启 Verbatim。",
  push_damaged: ({ path, moved_to }) => `推送通知已关闭：${path} 已损坏，已移至 ${moved_to}。`,
  push_on_again: "请在每个浏览器的设置中重新开启推送通知。",

  // Files that are read
  path_no_permission: ({ path }) => `${path}：没有读取权限。`,
  give_permission: "请授予运行 Verbatim 的用户读取权限。Verbatim 会自动重试。",
  path_unreadable: ({ path, error }) => `${path}：无法读取：${error}。`,
  path_missing: ({ path }) => `${path}：路径不存在。`,
  path_not_file: ({ path }) => `${path}：不是普通文件。`,
  path_no_session: ({ path }) => `${path}：其中没有 Verbatim 能读取的会话。`,
  path_switched_off: ({ path, agent }) => `${path}：${agent} 已在设置中关闭。`,
  repair_or_remove: "请修复或移除它。Verbatim 会自动重试。",
  choices_unreadable: ({ file, error }) => `无法读取 ${file}，因此读取所有智能体：${error}。`,
  choices_format: ({ file }) => `无法读取 ${file}，因此读取所有智能体：内容不是 {"off": ["agent", …]}。`,
  fix_or_remove: "请修复或移除该文件，然后重新启动 Verbatim。",

  // Agents in terminals
  attach_unknown: ({ agent, error }) => `无法确定是否已接入 ${agent}：${error}`,
  attach_not_answered: "在该文件可以读取之前，无法在这里回答它在终端中的会话。",
  terminals_not_answered: ({ error }) => `无法从 Verbatim 回答终端中的智能体：${error}。`,
  free_space_restart: "请释放磁盘空间并检查数据目录的权限，然后重启。",

  // Configuration
  config_unreadable: ({ file, error }) => `${file}：无法读取：${error}。`,
  config_not_object: ({ file }) => `${file}：不是 JSON 对象。`,
  config_not_json: ({ file, error }) => `${file}：无效的 JSON：${error}。`,
  config_unknown: ({ known, ...setting }) => `${at(setting)}：未知的设置。支持的设置：${known}。`,
  config_no_object: (setting) => `${at(setting)}：必须是对象。`,
  config_no_list: (setting) => `${at(setting)}：必须是列表。`,
  config_name: (setting) => `${at(setting)}：名称只能包含字母、数字、点、连字符和下划线。`,
  config_taken: (setting) => `${at(setting)}：已有提供方使用此名称。请换一个名称。`,
  config_invalid: ({ problem, ...setting }) => `${at(setting)}：${problem}。`,
  fix_and_restart: "请修复该文件，然后重启 Verbatim。",
  keys_exposed: ({ file }) => `其他用户可以读取 ${file}。其中的密钥不会使用。`,
  protect_keys: ({ file }) => `请执行 chmod 600 ${file}；如果其他人可能已读取密钥，请更换密钥。`,
  keys_not_json: ({ file }) => `无法将 ${file} 作为 JSON 读取。`,
  keys_not_object: ({ file }) => `${file} 不是 JSON 对象。`,
  write_keys: '请写成 {"anthropic": "sk-…"} 的形式。',
  key_invalid: ({ file, id }) => `${file}：${id}：无效的密钥。`,
  mcp_server_unusable: ({ server, error }) => `无法使用 MCP 服务器 ${server}：${error}。`,
  mcp_server_tried_again:
    "如果它已结束或没有响应，下一个会话开始时会重试。否则请修改数据目录中 config.json 的 mcp_servers，然后重启 Verbatim。",

  // Agents that cannot be used
  rules_unreadable: "无法读取 config.json 中的规则。规则可能禁止的操作都不会运行。",
  no_base_url: ({ provider }) => `${provider} 没有基础 URL。`,
  add_base_url: ({ id }) =>
    `请在数据目录的 config.json 中加入 "providers": {"${id}": {"base_url": "http://…"}}。`,
  protocol_unsupported: ({ provider, protocol }) => `无法使用 ${provider}：不支持其协议 ${protocol}。`,
  choose_provider: "请选择另一个提供方。",
  needs_key: ({ provider }) => `${provider} 需要 API 密钥。`,
  set_key_from_or_write: ({ variable, source, id }) =>
    `请把 ${variable} 设为从 ${source} 获取的密钥。${orWriteKey(id)}`,
  set_key_for_or_write: ({ variable, provider, id }) =>
    `请把 ${variable} 设为 ${provider} 的 API 密钥。${orWriteKey(id)}`,
  needs_adapter: ({ agent }) => `${agent} 需要适配器。`,
  install_adapter: ({ package: name }) => `请运行 \`npm install -g ${name}\`，然后重启 Verbatim。`,
};
