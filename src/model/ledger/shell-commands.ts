/** Programs that only read, with any arguments, unless their output is redirected to a file. */
const READERS = new Set(
  (
    "awk basename cat cd cmp column comm cut date df diff dirname du echo egrep env export false fgrep file grep head " +
    "hostname id jq ls lsof man nl od pgrep printenv printf ps pwd readlink realpath rg sha256sum sleep sort stat " +
    "strings tac tail test tr tree true type uname uniq wc which whoami xxd [ :"
  ).split(" "),
);
/** Git subcommands that do not change files of the working tree. */
const GIT_READERS = new Set(
  "blame branch cat-file config describe diff fetch grep log ls-files ls-remote ls-tree push remote rev-list rev-parse shortlog show status tag".split(
    " ",
  ),
);
/** A shell that runs a script: `bash -lc '…'`. */
const SHELL = /^(?:\S*\/)?(?:ba|z|da)?sh\s+-l?c\s+(['"])([\s\S]*)\1$/;
/** Options with which otherwise reading programs change files. */
const WRITING_OPTION: Readonly<Record<string, RegExp>> = {
  find: /\s-(?:delete|exec|execdir|ok|okdir|fprint\w*)\b/,
  sed: /\s(?:-[a-zA-Z]*i|--in-place)/,
};

/**
 * Whether a shell command may have changed files: a part of it is not known to only read, or output is redirected to a file.
 * Based on the command's text only; returns `true` in case of doubt.
 */
export function mayChangeFiles(command: string): boolean {
  const [, , script] = SHELL.exec(command.trim()) ?? [];
  const unquoted = withoutQuotes(script ?? command);
  if (/(?:^|[^0-9&<>=-])\d?>{1,2}(?!\s*(?:\/dev\/null|&\d))/.test(unquoted)) return true;
  if (/[`]|\$\(/.test(unquoted)) return true;
  return unquoted.split(/\|\||&&|[;|\n&]/).some((part) => !isReader(part.trim()));
}

function isReader(part: string): boolean {
  // Skip environment assignments before the program.
  const [program = "", ...rest] = part.replace(/^(?:\w+=\S*\s+)+/, "").split(/\s+/);
  if (program === "") return true;
  const name = program.split("/").at(-1) ?? "";
  if (name === "git") return GIT_READERS.has(rest.find((word) => !word.startsWith("-")) ?? "");
  const writing = Object.hasOwn(WRITING_OPTION, name) ? WRITING_OPTION[name] : undefined;
  return writing === undefined ? READERS.has(name) : !writing.test(part);
}

/** The command without quoted strings, in which `>` and `;` have no meaning. */
const withoutQuotes = (command: string): string =>
  command.replace(/'[^']*'/g, "''").replace(/"(?:[^"\\$`]|\\.)*"/g, '""');
