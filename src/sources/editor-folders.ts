/** VS Code, and editors made from it that use its folders. */
const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/** Folders of applications on Linux, macOS and Windows. */
const BASES = [".config", "Library/Application Support", "AppData/Roaming"];
/** Servers that an editor runs on another computer or in a container. */
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscode-remote"];

/** Folders below the home folder in which these editors store a user's data, each with `globalStorage` and `workspaceStorage`. */
export const EDITOR_FOLDERS: readonly string[] = [
  ...EDITORS.flatMap((editor) => BASES.map((base) => `${base}/${editor}/User`)),
  ...SERVERS.map((server) => `${server}/data/User`),
];
