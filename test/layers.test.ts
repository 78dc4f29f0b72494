import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

/**
 * The first that a path begins with is the file's layer. What it may import: layers, and packages with what is below them
 * (`react` also stands for `react/jsx-runtime`; `remark-*` for all of that family).
 */
const LAYERS: { layer: string; from: string[]; packages: string[] }[] = [
  { layer: "model/", from: [], packages: ["zod", "uuid"] },
  { layer: "hidden-text/", from: [], packages: [] },
  { layer: "protocol.ts", from: ["model/"], packages: ["zod"] },
  { layer: "formats/", from: ["model/"], packages: [] },
  { layer: "providers/", from: ["model/"], packages: ["zod", "eventsource-parser", "undici"] },
  {
    layer: "agent/",
    from: ["model/", "providers/"],
    packages: [
      "node:*",
      "zod",
      "diff",
      "htmlparser2",
      "@agentclientprotocol/sdk",
      "@modelcontextprotocol/sdk",
    ],
  },
  { layer: "streams/", from: ["model/"], packages: [] },
  {
    layer: "server/",
    from: ["model/", "hidden-text/", "protocol.ts", "formats/", "streams/", "providers/", "agent/"],
    packages: ["node:*", "hono", "@hono/node-server", "ws", "zod"],
  },
  {
    layer: "web/ui/",
    from: ["hidden-text/"],
    packages: ["react", "react-dom", "react-markdown", "shiki", "micromark*", "mdast*", "hast*"],
  },
  { layer: "web/transcript/", from: ["model/", "hidden-text/", "web/ui/"], packages: ["react", "diff"] },
  {
    layer: "web/",
    from: ["model/", "hidden-text/", "protocol.ts", "web/transcript/", "web/ui/"],
    packages: ["react", "react-dom", "zustand"],
  },
];
/** Run before anything is installed or built: in no layer, import nothing but Node and one another. */
const BOOTSTRAP = ["install.mjs", "start.mjs"];

const layerOf = (path: string) => LAYERS.find(({ layer }) => path.startsWith(layer));
const isOf = (allowed: string, name: string) =>
  allowed.endsWith("*")
    ? name.startsWith(allowed.slice(0, -1))
    : name === allowed || name.startsWith(`${allowed}/`);

it("imports only along the arrows of the architecture, and along all of them", () => {
  const wrong: string[] = [];
  const unused = new Set(
    LAYERS.flatMap(({ layer, from, packages }) => [...from, ...packages].map((name) => `${layer} ${name}`)),
  );
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    const file = relative(SRC, join(entry.parentPath, entry.name)).replaceAll(sep, "/");
    if (!entry.isFile() || !/\.(tsx?|mjs)$/.test(file) || BOOTSTRAP.includes(file)) continue;
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
        else unused.delete(`${own.layer} ${layer}`);
        continue;
      }
      const allowed = own.packages.find((each) => isOf(each, name));
      if (allowed === undefined) wrong.push(`${file} imports ${name}`);
      else unused.delete(`${own.layer} ${allowed}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...unused]).toEqual([]);
});
