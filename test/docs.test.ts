import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { frame } from "../src/model/frames/frame.ts";
import { sessionSummary } from "../src/model/session.ts";
import { transcriptPart, turn } from "../src/model/transcript/transcript.ts";
import { clientMessage, serverMessage, sessionPage, statusReply } from "../src/protocol.ts";
import { helpText } from "../src/server/cli/flags.ts";

const root = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const api = read("docs/specs/http-api.md");
/** The files with the routes that the document describes. */
const routeFiles = ["app", "session-routes", "part-routes", "export-route"]
  .map((name) => `src/server/http/${name}.ts`)
  .concat("src/server/managed/routes.ts");

/** The rows of the tables under a heading, by the names in their first cells. */
function rowsUnder(heading: string): Map<string, string> {
  const section = api.split(`\n${heading}`)[1]?.split(/\n## |\n### /)[0] ?? "";
  const rows = new Map<string, string>();
  for (const line of section.split("\n")) {
    const [, first = "", ...cells] = line.split(/(?<!\\)\|/);
    for (const [, name = ""] of first.matchAll(/`([^`]+)`/g)) rows.set(name, cells.join("|"));
  }
  return rows;
}

interface Kind {
  def: { values: string[] };
}
/** A member of a union discriminated by `type`, as in zod. */
interface Member {
  shape: Record<string, unknown> & { type: unknown };
}
const typeOf = ({ shape }: Member) => (shape.type as Kind).def.values[0] ?? "";
const fieldsOf = ({ shape }: Member, common: readonly string[]) =>
  Object.keys(shape).filter((field) => field !== "type" && !common.includes(field));

describe("docs/specs/http-api.md", () => {
  it.each<[string, string, { options: readonly unknown[] }, string[]]>([
    ["frame", "## Frames", frame, ["session_id", "at", "source", "part_index", "step", "truncated"]],
    [
      "part",
      "### Part",
      transcriptPart,
      [
        "id",
        "session_id",
        "message_id",
        "at",
        "source",
        "step",
        "retracted",
        "retracted_code",
        "revised_at",
        "truncated",
      ],
    ],
    ["message to the daemon", "### Client to daemon", clientMessage, []],
    ["message to the client", "### Daemon to client", serverMessage, []],
  ])("names every %s with all of its fields", (_name, heading, union, common) => {
    const rows = rowsUnder(heading);
    for (const option of union.options) {
      // zod's own types of a union's members differ; all of them are objects with a literal `type`.
      const member = option as Member;
      const row = rows.get(typeOf(member));
      expect(row, typeOf(member)).toBeDefined();
      for (const field of fieldsOf(member, common))
        expect(row, `${typeOf(member)}.${field}`).toContain(field);
    }
  });

  it.each<[string, string, string, { shape: Record<string, unknown> }]>([
    ["row of the list", "### Row", "\n### ", sessionSummary],
    ["page", "### Page", "A **turn**", sessionPage],
    ["fold state of a page", "### Page", "A **turn**", sessionPage.shape.open],
    ["turn", "A **turn**", "; its parts", turn],
    ["status", "| `/api/status`", "\n", statusReply],
  ])("names every field of a %s where it is described", (_name, begin, end, { shape }) => {
    const section = api.split(`\n${begin}`)[1]?.split(end)[0] ?? "";
    const named = [...section.matchAll(/`([^`]+)`/g)].flatMap(([, code = ""]) => code.match(/\w+/g) ?? []);
    expect(Object.keys(shape).filter((field) => !named.includes(field))).toEqual([]);
  });

  it("names every route", () => {
    const sources = routeFiles.map(read).join("\n");
    const routes = [...sources.matchAll(/app\.(?:get|post)\("(\/api\/[^"*]+)"/g)];
    expect(routes.length).toBeGreaterThan(8);
    for (const [, route = ""] of routes) expect(api).toContain(route);
  });

  it("names every code of a refusal, or the page about pushing does", () => {
    const sources = filesBelow("src/server")
      .filter((path) => path.endsWith(".ts"))
      .map(read)
      .join("\n");
    const codes = [
      ...sources.matchAll(/\bcode: "(\w+)"/g),
      ...sources.matchAll(/\b(?:Refused\(|refuse\(context,)\s*\d{3},\s*"(\w+)"/g),
      ...sources.matchAll(/\brefuse\((?:client, |push, )?"(\w+)"/g),
    ].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(30);
    const described = `${api}\n${read("docs/push-your-agent.md")}`;
    // The sender of an aborted push does not receive its code.
    expect([...new Set(codes)].filter((code) => !described.includes(`\`${code}\``))).toEqual(["cut_off"]);
  });

  it("names every word that a route reads of its query", () => {
    const sources = routeFiles.map(read).join("\n");
    const words = [
      ...[...sources.matchAll(/req\.query\("(\w+)"\)/g)].map(([, word = ""]) => word),
      ...[...sources.matchAll(/const \{ (.+) \} = context\.req\.query\(\)/g)].flatMap(([, names = ""]) =>
        names.split(", "),
      ),
    ];
    expect(words.length).toBeGreaterThan(8);
    const described = `${api}\n${read("docs/push-your-agent.md")}`;
    expect(words.filter((word) => !new RegExp(`\\b${word}=`).test(described))).toEqual([]);
  });
});

it("docs/architecture.md names each file where it is", () => {
  const wrong: string[] = [];
  let folder = "";
  for (const line of read("docs/architecture.md").split("\n")) {
    folder = /^\*\*`((?:src|test)[^`.]*)`\*\*/.exec(line)?.[1] ?? folder;
    if (line.startsWith("## ")) folder = "";
    if (folder === "") continue;
    const files = filesBelow(folder);
    for (const [, name = ""] of line.matchAll(/`([\w./-]+\.(?:tsx?|c))`/g))
      if (!existsSync(join(root, name)) && !files.some((file) => file.endsWith(`/${name}`)))
        wrong.push(`${folder}: ${name}`);
  }
  expect(wrong).toEqual([]);
});

describe("the documents", () => {
  const documents = ["README.md", ...filesBelow("docs")].filter((path) => path.endsWith(".md"));

  it.each(documents)("%s links only to files that are there", (path) => {
    const text = read(path).replaceAll(/```[\s\S]*?```/g, "");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      expect(() => readFileOrFolder(join(root, dirname(path), target)), target).not.toThrow();
    }
  });

  it("name only flags that --help lists in the README", () => {
    const help = helpText();
    const readme = read("README.md");
    for (const [, flag = ""] of readme.matchAll(/`?(--[a-z][a-z-]+)/g)) expect(help).toContain(flag);
    expect(readme).toContain("--help");
  });

  it("list the agents that are offered if they are installed, and in one place only", () => {
    const source = read("src/server/managed/installed-agents.ts");
    const titles = [...source.matchAll(/\btitle: "([^"]+)"/g)].map(([, title = ""]) => title);
    expect(titles.length).toBeGreaterThan(10);
    const [, row = ""] = /^\| `agents` \|(.*)$/m.exec(read("docs/configuration.md")) ?? [];
    expect(titles.filter((title) => !row.includes(title))).toEqual([]);
    // The README names examples, and says that they are.
    const [, short = ""] = /^\| agents with the Agent Client Protocol \|(.*)$/m.exec(read("README.md")) ?? [];
    expect(short).toContain("among them");
    expect(short).toContain("](docs/configuration.md");
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function readFileOrFolder(path: string): void {
  try {
    readFileSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EISDIR")) throw error;
  }
}
