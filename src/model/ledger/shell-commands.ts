/** Programs that only read, whatever their arguments, unless their output is redirected to a file. */
const READERS = new Set(
  (
    "awk basename cat cd cmp column comm cut date df diff dirname du echo egrep env export false fgrep file grep head " +
    "hostname id jq ls lsof man nl od pgrep printenv printf ps pwd readlink realpath rg sha256sum sleep sort stat " +
    "strings tac tail test tr tree true type uname uniq wc which whoami xxd [ :"
  ).split(" "),
);
/** Subcommands of git that change no file of the working tree. */
const GIT_READERS = new Set(
  "blame branch cat-file config describe diff fetch grep log ls-files ls-remote ls-tree push remote rev-list rev-parse shortlog show status tag".split(
    " ",
  ),
);
/** A shell that runs a script: `bash -lc '…'`. */
const SHELL = /^(?:\S*\/)?(?:ba|z|da)?sh\s+-l?c\s+(['"])([\s\S]*)\1$/;
/** Options with which a program that otherwise reads changes files. */
const WRITING_OPTION: Readonly<Record<string, RegExp>> = {
  find: /\s-(?:delete|exec|execdir|ok|okdir|fprint\w*)\b/,
  sed: /\s(?:-[a-zA-Z]*i|--in-place)/,
};

/**
 * Whether a shell command may have changed files: any of its parts that is not known to read only, or a redirection to a file.
 * A guess from the command's words alone; when in doubt, it may.
 */
export function mayChangeFiles(command: string): boolean {
  const [, , script] = SHELL.exec(command.trim()) ?? [];
  const words = withoutQuotes(script ?? command);
  if (/(?:^|[^0-9&<>=-])\d?>{1,2}(?!\s*(?:\/dev\/null|&\d))/.test(words)) return true;
  if (/[`]|\$\(/.test(words)) return true;
  return words.split(/\|\||&&|[;|\n&]/).some((part) => !isReader(part.trim()));
}

function isReader(part: string): boolean {
  // Assignments before a program's name are part of its environment.
  const [program = "", ...rest] = part.replace(/^(?:\w+=\S*\s+)+/, "").split(/\s+/);
  if (program === "") return true;
  const name = program.split("/").at(-1) ?? "";
  if (name === "git") return GIT_READERS.has(rest.find((word) => !word.startsWith("-")) ?? "");
  const writing = Object.hasOwn(WRITING_OPTION, name) ? WRITING_OPTION[name] : undefined;
  return writing === undefined ? READERS.has(name) : !writing.test(part);
}

/** The command without its quoted texts, in which `>` and `;` mean nothing. */
const withoutQuotes = (command: string): string =>
  command.replace(/'[^']*'/g, "''").replace(/"(?:[^"\\$`]|\\.)*"/g, '""');
