import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

/** The first that a path begins with is the file's layer. What it may import: layers, and packages (`react/` and so on). */
const LAYERS: { layer: string; from: string[]; packages: RegExp }[] = [
  { layer: "model/", from: [], packages: /^(zod|uuid)$/ },
  { layer: "hidden-text/", from: [], packages: /^$/ },
  { layer: "protocol.ts", from: ["model/"], packages: /^zod$/ },
  { layer: "formats/", from: ["model/"], packages: /^(zod|uuid)$/ },
  { layer: "exports/", from: ["model/", "protocol.ts"], packages: /^$/ },
  { layer: "providers/", from: ["model/"], packages: /^(zod|uuid|eventsource-parser|undici)$/ },
  {
    layer: "agent/",
    from: ["model/", "providers/"],
    packages: /^(node:.*|zod|diff|htmlparser2|@agentclientprotocol\/sdk|@modelcontextprotocol\/sdk\/.*)$/,
  },
  { layer: "streams/", from: ["model/"], packages: /^zod$/ },
  {
    layer: "server/",
    from: [
      "model/",
      "hidden-text/",
      "protocol.ts",
      "formats/",
      "streams/",
      "exports/",
      "providers/",
      "agent/",
    ],
    packages: /^(node:.*|hono(\/.*)?|@hono\/.*|ws|zod|diff|pg|nats|@nats-io\/.*)$/,
  },
  {
    layer: "web/ui/",
    from: ["hidden-text/"],
    packages:
      /^(react|react-dom|react-markdown|shiki|@shikijs\/.*|(remark|rehype|micromark|mdast|hast|unist|unified|vfile)(-.*)?|.*-jsx|html-url-attributes)(\/.*)?$/,
  },
  {
    layer: "web/transcript/",
    from: ["model/", "hidden-text/", "web/ui/"],
    packages: /^(react|react-dom|diff)(\/.*)?$/,
  },
  {
    layer: "web/",
    from: ["model/", "hidden-text/", "protocol.ts", "exports/", "web/transcript/", "web/ui/"],
    packages: /^(react|react-dom|zustand|@tanstack\/react-virtual)(\/.*)?$/,
  },
];
/** Runs before anything is installed or built: in no layer, imports nothing but Node. */
const BOOTSTRAP = "start.mjs";

const layerOf = (path: string) => LAYERS.find(({ layer }) => path.startsWith(layer));

it("imports only along the arrows of the architecture", () => {
  const wrong: string[] = [];
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    const file = relative(SRC, join(entry.parentPath, entry.name)).replaceAll(sep, "/");
    if (!entry.isFile() || !/\.(tsx?|mjs)$/.test(file) || file === BOOTSTRAP) continue;
    const own = layerOf(file);
    if (own === undefined) {
      wrong.push(`${file} is in no layer`);
      continue;
    }
    const text = readFileSync(join(SRC, file), "utf8");
    for (const [, named, dynamic, bare] of text.matchAll(
      /^(?:import|export)\s[^"';]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)|^import\s+"([^"]+)"/gm,
    )) {
      const name = named ?? dynamic ?? bare ?? "";
      if (name.startsWith(".")) {
        const target = join(dirname(file), name.replace(/\?.*/, "")).replaceAll(sep, "/");
        const layer = layerOf(target)?.layer;
        const isAllowed = layer === own.layer || own.from.some((allowed) => allowed === layer);
        if (!isAllowed && !target.endsWith(".css")) wrong.push(`${file} imports ${target}`);
      } else if (!own.packages.test(name)) wrong.push(`${file} imports ${name}`);
    }
  }
  expect(wrong).toEqual([]);
});
