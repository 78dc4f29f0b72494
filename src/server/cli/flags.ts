import { parseArgs } from "node:util";
import { messageOf } from "../../model/narrow.ts";
import { apiProtocols } from "../../providers/index.ts";
import { formats } from "../../sources/index.ts";
import { UsageError } from "../usage-error.ts";
import { defaultDataDirText } from "./data-dir.ts";

/** A command line option as `parseArgs` expects it, with its text in `--help`. */
interface Option {
  type: "string" | "boolean";
  /** The name of its value in the help. */
  value?: string;
  help: string;
  /** Help text of `--no-<name>`, if the option can be negated. */
  negated?: string;
}

const DATA_DIR = {
  "data-dir": {
    type: "string",
    value: "DIR",
    help: `Folder of the archive and the secrets. Default: ${defaultDataDirText()}`,
  },
} as const;

const ADDRESS = {
  host: {
    type: "string",
    value: "ADDRESS",
    help: "Address to listen on. Default 127.0.0.1. Addresses other than loopback need --password-file and --origin.",
  },
  "password-file": {
    type: "string",
    value: "FILE",
    help: "File whose first line is the password that browsers are asked for.",
  },
  origin: {
    type: "string",
    value: "URL",
    help: "https:// address at which browsers reach this daemon, or the http://localhost:PORT that ssh forwards to it.",
  },
  cert: {
    type: "string",
    value: "FILE",
    help: "TLS certificate (PEM), read at start. Without it, a proxy in front of this daemon must provide TLS.",
  },
  key: { type: "string", value: "FILE", help: "Private key of the certificate (PEM, without a passphrase)." },
} as const;

/** Every command with its options. `--help` is generated from this table. */
const COMMANDS = {
  start: {
    usage: "[options] [PATH…]",
    help: "",
    options: {
      port: {
        type: "string",
        value: "N",
        help: "Port to listen on. Default 4747, or the next free one. 0: any free one.",
      },
      ...DATA_DIR,
      open: { type: "boolean", help: "Open the page in the default browser." },
      link: { type: "boolean", help: "Print a new launch link of the running daemon and exit." },
      samples: {
        type: "boolean",
        help: "Show the sample sessions. Default: only while no agent's sessions are found.",
        negated: "Never show the sample sessions.",
      },
      "replay-pace": {
        type: "string",
        value: "N",
        help: "Speed at which one of the samples is replayed. Default 1: the pace of an agent.",
      },
      ...ADDRESS,
    },
  },
  run: {
    usage: 'run "PROMPT" [--agent AGENT | --provider PROVIDER] [--model MODEL] [--cwd DIR] [--json]',
    help:
      "Start a session with this prompt and print its turn as it happens; the session is live in the browser too. " +
      "Ctrl-C stops the turn. If no daemon is running, one is started until the command and all sessions that were started " +
      "in it have finished. Ctrl-C ends that as well.",
    options: {
      agent: {
        type: "string",
        value: "AGENT",
        help: "An agent of config.json or a provider. Default: the one used last, or the first that has a key.",
      },
      provider: { type: "string", value: "PROVIDER", help: "Same as --agent PROVIDER." },
      model: {
        type: "string",
        value: "MODEL",
        help: 'The provider\'s name of the model; for the provider "scripted", the name of a script.',
      },
      cwd: {
        type: "string",
        value: "DIR",
        help: "Working directory of the agent. Default: the current one; scripts have their own.",
      },
      json: { type: "boolean", help: "Print the session's frames, one JSON object per line." },
      ...DATA_DIR,
      ...ADDRESS,
    },
  },
  pipe: {
    usage: "pipe [--agent AGENT]",
    help:
      "Show the session that a program prints, live in the browser: claude -p --output-format stream-json … | npm start " +
      "-- pipe. Reads JSON lines from standard input, sends them to the running daemon and prints them again.",
    options: {
      agent: {
        type: "string",
        value: "AGENT",
        help: "Format of the lines: claude-code, codex, codex-exec or droid-exec. Default: as recognized.",
      },
      ...DATA_DIR,
    },
  },
  show: {
    usage: "show FILE… [--session ID] [--json | --accounting | --context STEP | --changes TURN]",
    help: "Print a session file as text, or the list of the sessions in a database. FILE -: standard input. Needs no daemon.",
    options: {
      session: { type: "string", value: "ID", help: "The session of the database to print." },
      json: { type: "boolean", help: "Print one JSON object per transcript part, in order." },
      accounting: {
        type: "boolean",
        help: "Print how the file's lines were read instead: one JSON object per file.",
      },
      context: {
        type: "string",
        value: "STEP",
        help:
          'Print the input of the model at a step (1, 2, … or "all") instead, one JSON object per step: the recorded ' +
          "request, or one rebuilt from the transcript.",
      },
      changes: {
        type: "string",
        value: "TURN",
        help:
          'Print what a turn (1, 2, … or "all") changed instead: a net diff of each file, commits, pull requests, and ' +
          "commands that may have changed files. With --json: one JSON object per session.",
      },
    },
  },
  export: {
    usage: "export SESSION|FILE [--format jsonl|md] [--session ID]",
    help:
      "Print a session, named by its id or its file, as history that opens as the same session again (jsonl) or as " +
      "Markdown (md).",
    options: {
      format: { type: "string", value: "FORMAT", help: "jsonl (default) or md." },
      session: { type: "string", value: "ID", help: "The session of the database to export." },
      ...DATA_DIR,
    },
  },
  decode: {
    usage: "decode --wire WIRE FILE.sse",
    help: "Print a recorded response of a model provider as one JSON object. FILE -: standard input.",
    options: {
      wire: {
        type: "string",
        value: "WIRE",
        help: `API protocol of the recording: ${apiProtocols.map(({ wire }) => wire).join(", ")}.`,
      },
    },
  },
  search: {
    usage: "search QUERY [--limit N] [--sort rank] [--json]",
    help: "Search the parts of all sessions that Verbatim has indexed. Needs no daemon. The language: docs/search.md.",
    options: {
      limit: { type: "string", value: "N", help: "Matches to print. Default 20." },
      sort: { type: "string", value: "ORDER", help: "newest (default) or rank." },
      json: { type: "boolean", help: "Print one JSON object." },
      ...DATA_DIR,
    },
  },
  mcp: {
    usage: "mcp [--project FOLDER]",
    help: "Serve search, open and list to agents over the Model Context Protocol, on standard input and output. Reads only.",
    options: {
      project: {
        type: "string",
        value: "FOLDER",
        help: "Only sessions that worked in this folder or below it.",
      },
      ...DATA_DIR,
    },
  },
  token: {
    usage: "token",
    help: "Print the token with which programs push sessions to this daemon.",
    options: DATA_DIR,
  },
  agents: {
    usage: "agents [on|off AGENT]",
    help:
      "Print which agents' session files are read, from where, how many there are, and what cannot be read. on, off: " +
      "read an agent's sessions, or leave them out. Asks the running daemon.",
    options: DATA_DIR,
  },
  attach: {
    usage: "attach AGENT",
    help:
      "Answer an agent's approvals, questions and plans in the browser as well as in its terminal: prints the change of " +
      "the agent's settings that it takes. AGENT: claude-code, codex, opencode, qwen-code, copilot-cli, or gemini-cli " +
      "(only its state). See docs/attach.md.",
    options: DATA_DIR,
  },
  detach: { usage: "detach AGENT", help: "Undo attach, and print the change.", options: DATA_DIR },
} as const satisfies Record<string, { usage: string; help: string; options: Record<string, Option> }>;

export type CommandName = keyof typeof COMMANDS;

/** `start` is the command without a name. */
const isCommand = (word: string | undefined): word is Exclude<CommandName, "start"> =>
  word !== undefined && word !== "start" && word in COMMANDS;

const OPTIONS = {
  ...COMMANDS.start.options,
  ...COMMANDS.run.options,
  ...COMMANDS.pipe.options,
  ...COMMANDS.show.options,
  ...COMMANDS.export.options,
  ...COMMANDS.decode.options,
  ...COMMANDS.search.options,
  ...COMMANDS.mcp.options,
  ...COMMANDS.token.options,
  ...COMMANDS.agents.options,
  ...COMMANDS.attach.options,
  ...COMMANDS.detach.options,
  version: { type: "boolean", help: "Print the version." },
  help: { type: "boolean", short: "h", help: "Print this." },
} as const;
const GRAMMAR = { options: OPTIONS, allowPositionals: true, allowNegative: true } as const;

const parseFlags = (args: string[]) => parseArgs({ ...GRAMMAR, args });

/** The options of the command line, by name. */
export type Flags = ReturnType<typeof parseFlags>["values"];

/** The command, its arguments and its options. Throws `UsageError`. */
export function readFlags(args: string[]): { command: CommandName; operands: string[]; flags: Flags } {
  let parsed: ReturnType<typeof parseFlags>;
  try {
    parsed = parseFlags(args);
  } catch (error) {
    throw new UsageError(`${invalidOptionIn(args) ?? messageOf(error)} \`--help\` lists all options.`);
  }
  const { values: flags, positionals } = parsed;
  const [first, ...rest] = positionals;
  const [command, operands] = isCommand(first) ? [first, rest] : (["start", positionals] as const);
  if (flags.help || flags.version) return { command, operands, flags };
  for (const name of Object.keys(flags)) {
    if (name in COMMANDS[command].options) continue;
    const owners = Object.entries(COMMANDS).flatMap(([owner, { options }]) =>
      name in options ? (owner === "start" ? "the daemon" : `\`${owner}\``) : [],
    );
    const target = command === "start" ? "the daemon" : `\`${command}\``;
    throw new UsageError(`--${name} belongs to ${owners.join(" and ")}, not to ${target}.`);
  }
  return { command, operands, flags };
}

/** Describes the first invalid option. `parseArgs` words its errors for programmers. */
function invalidOptionIn(args: string[]): string | undefined {
  const types = new Map(Object.entries(OPTIONS).map(([name, { type }]) => [name, type]));
  for (const token of parseArgs({ ...GRAMMAR, args, strict: false, tokens: true }).tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const type = types.get(name.replace(/^no-/, ""));
    if (type === undefined || (type === "string" && rawName.startsWith("--no-")))
      return `Unknown option ${rawName}. Put arguments that start with a dash after \`--\`.`;
    if (type === "boolean" && value !== undefined) return `${rawName} does not take a value.`;
    if (type === "string" && (value === undefined || (!inlineValue && /^-./.test(value))))
      return `${rawName} needs a value.`;
  }
  return undefined;
}

const COLUMN = 24;
const WIDTH = 100;

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

/** `name` in the left column, `text` wrapped in the right one. */
function entry(name: string, text: string): string {
  const [first = "", ...rest] = wrap(text, WIDTH - COLUMN);
  return [`${name.padEnd(COLUMN - 1)} ${first}`, ...rest.map((line) => " ".repeat(COLUMN) + line)].join("\n");
}

const optionsHelp = (options: Record<string, Option>): string[] =>
  Object.entries(options).flatMap(([name, { value, help, negated }]) => [
    entry(`  --${name}${value === undefined ? "" : ` ${value}`}`, help),
    ...(negated === undefined ? [] : [entry(`  --no-${name}`, negated)]),
  ]);

/** The text of `--help`. */
export function helpText(): string {
  const usages = Object.values(COMMANDS).map(({ usage }) => `npm start -- ${usage}`);
  const { version, help } = OPTIONS;
  // Options that several commands share are described once, with the default command.
  const shared = new Set<string>(Object.keys(COMMANDS.start.options));
  const sections = Object.entries(COMMANDS).flatMap(([name, command]) => {
    if (name === "start") return [];
    const own = Object.entries(command.options).filter(([option]) => !shared.has(option));
    return [[entry(name, command.help), ...optionsHelp(Object.fromEntries(own))].join("\n")];
  });
  const about =
    "Shows in a browser what AI agents on this machine did, and what they are doing. PATH…: session files or folders to read in addition " +
    "to the agents' own folders.";
  const variables = [...new Set(formats.flatMap(({ root }) => root?.variable ?? []))].sort();
  const environment =
    `Environment: ${variables.join(", ")} name the agents' folders if they are not in ` +
    "the usual place; ANTHROPIC_API_KEY and the like hold the keys of model providers. Providers, agents and rules are " +
    "configured in config.json in the data directory.";
  return `${[
    `Usage: ${usages.join("\n       ")}`,
    wrap(about, WIDTH).join("\n"),
    ["Options", ...optionsHelp({ ...COMMANDS.start.options, version, help })].join("\n"),
    ...sections,
    wrap(environment, WIDTH).join("\n"),
  ].join("\n\n")}\n`;
}
