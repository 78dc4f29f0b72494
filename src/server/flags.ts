import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { formats } from "../formats/index.ts";
import { messageOf } from "../model/narrow.ts";
import { wireFormats } from "../providers/index.ts";
import { UsageError } from "./usage-error.ts";

export const HELP = `Usage: npm start -- [options] [PATH…]
       npm start -- run "PROMPT" [--agent AGENT | --provider PROVIDER] [--model MODEL] [--cwd DIR] [--json]
       npm start -- show FILE… [--json | --accounting]
       npm start -- decode --wire WIRE FILE.sse
       npm start -- token

Shows what AI agents on this machine did and do, in a browser. PATH…: files or folders of
sessions to read beside the agents' own folders.

Options
  --port N              Port to listen on. Default 4747, or the next free one. 0: any free one.
  --data-dir DIR        Where the archive and the secrets are kept. Default: ${dataDirText()}
  --open                Open the page in the default browser.
  --link                Print a new launch link of the daemon that runs, and end.
  --samples             Show the sample sessions. Without it they are shown only while no
                        agent's sessions are found.
  --no-samples          Never show the sample sessions.
  --replay-pace N       How fast one of the samples is replayed. Default 1: an agent's pace.
  --host ADDRESS        Address to listen on. Default 127.0.0.1. Any other than loopback needs
                        --password-file and --origin.
  --password-file FILE  File whose first line is the password that browsers are asked for.
  --origin URL          https:// address at which browsers reach this daemon, or the http://localhost:PORT
                        that ssh forwards to it.
  --cert FILE           TLS certificate and key (PEM), read again when they are renewed. Without
  --key FILE            them a proxy in front of this daemon must speak TLS.
  --version             Print the version.
  --help                Print this.

run                     Start a session with this prompt and print its turn as it happens; the same
                        session is live in the browser. Ctrl-C stops the turn. Without a daemon that
                        runs, one runs as long as the command, and until what others started in it
                        is done; Ctrl-C ends that, too.
  --agent AGENT         An agent of config.json, or a provider (--provider PROVIDER says the same).
                        Default: what was used last, or the first that has a key.
  --model MODEL         The provider's name of it; for the provider "scripted", a script's name.
  --cwd DIR             The folder that the agent works in. Default: the present one; of scripts, one of
                        their own.
  --json                The session's frames, one JSON object a line.

show                    Print a session file as text, without a daemon.
  --json                One JSON object per transcript part, in order.
  --accounting          Instead: what became of the file's lines, one JSON object per file.

decode                  Print what a recorded response of a model provider says, as one JSON object.
                        FILE -: from standard input.
  --wire WIRE           One of:${wireFormats.map(({ wire }) => `\n                        ${wire}`).join("")}

token                   Print the token with which a program may push sessions to this daemon.

Environment: ${formats.map(({ root }) => root.variable).join(" and ")} name the agents' folders where they are not in
the usual place; ANTHROPIC_API_KEY and the like hold the keys of model providers. Providers,
agents and rules are configured in config.json in the data directory.
`;

/** What stands on the command line, by name. */
export type Flags = ReturnType<typeof parseFlags>["values"];

const OPTIONS = {
  port: { type: "string" },
  host: { type: "string" },
  "data-dir": { type: "string" },
  open: { type: "boolean" },
  link: { type: "boolean" },
  samples: { type: "boolean" },
  "replay-pace": { type: "string" },
  "password-file": { type: "string" },
  origin: { type: "string" },
  cert: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
  accounting: { type: "boolean" },
  wire: { type: "string" },
  agent: { type: "string" },
  provider: { type: "string" },
  model: { type: "string" },
  cwd: { type: "string" },
  version: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
const GRAMMAR = { options: OPTIONS, allowPositionals: true, allowNegative: true } as const;

const parseFlags = (args: string[]) => parseArgs({ ...GRAMMAR, args });

/** The command line's flags and words; throws `UsageError`. */
export function readFlags(args: string[]) {
  try {
    return parseFlags(args);
  } catch (error) {
    throw new UsageError(`${mistakeIn(args) ?? messageOf(error)} \`--help\` lists all options.`);
  }
}

/** What is wrong with the first flag that is, in whole sentences: Node's are for who wrote the program. */
function mistakeIn(args: string[]): string | undefined {
  const types = new Map(Object.entries(OPTIONS).map(([name, { type }]) => [name, type]));
  for (const token of parseArgs({ ...GRAMMAR, args, strict: false, tokens: true }).tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const type = types.get(name.replace(/^no-/, ""));
    if (type === undefined || (type === "string" && rawName.startsWith("--no-"))) {
      const meant = nearestOption(rawName);
      const advice =
        meant === undefined ? "A word that begins with a dash stands behind `--`." : `Did you mean ${meant}?`;
      return `There is no option ${rawName}. ${advice}`;
    }
    if (type === "boolean" && value !== undefined) return `${rawName} takes no value.`;
    if (type === "string" && (value === undefined || (!inlineValue && /^-./.test(value))))
      return `${rawName} needs a value.`;
  }
  return undefined;
}

function nearestOption(written: string): string | undefined {
  const options = HELP.match(/--[a-z-]+/g) ?? [];
  const edits = written.length > "--port".length ? [1, 2] : [1];
  return edits.map((most) => options.find((option) => isNear(written, option, most))).find(Boolean);
}

/** Whether one word becomes the other by so many letters that are changed, added, left out or swapped with the next. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === other) return true;
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), edits);
  if (edits === 0) return false;
  const isSwapped = one[0] === other[1] && one[1] === other[0];
  return (
    isNear(one.slice(1), other.slice(1), edits - 1) ||
    isNear(one.slice(1), other, edits - 1) ||
    isNear(one, other.slice(1), edits - 1) ||
    (isSwapped && isNear(one.slice(2), other.slice(2), edits - 1))
  );
}

/** Where the archive and the secrets are kept. */
export function dataDir(flags: Flags): string {
  return resolve(flags["data-dir"] ?? defaultDataDir());
}

function defaultDataDir(): string {
  if (process.platform === "darwin") return join(homedir(), "Library/Application Support/Verbatim");
  if (process.platform === "win32") {
    return join(process.env.LOCALAPPDATA || join(homedir(), "AppData/Local"), "Verbatim");
  }
  return join(process.env.XDG_DATA_HOME || join(homedir(), ".local/share"), "verbatim");
}

function dataDirText(): string {
  const path = defaultDataDir();
  return path.startsWith(homedir()) ? `~${path.slice(homedir().length)}` : path;
}
