import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

interface Layer {
  /** The longest layer that is a prefix of a path is the file's layer. */
  layer: string;
  /** Layers it may import. */
  from: string[];
  /** Packages with everything below them (`react` also stands for `react/jsx-runtime`, `remark-*` for the family). */
  packages: string[];
}

const SERVER_LIBRARIES = ["model/", "hidden-text/", "protocol.ts", "server/sessions/", "server/index/"];
const WEB_LIBRARIES = ["model/", "hidden-text/", "protocol.ts", "web/text/", "web/ui/"];

const LAYERS: Layer[] = [
  { layer: "model/", from: ["hidden-text/"], packages: ["zod", "uuid"] },
  { layer: "hidden-text/", from: [], packages: [] },
  { layer: "protocol.ts", from: ["model/", "protocol/"], packages: [] },
  { layer: "protocol/", from: ["model/"], packages: ["zod"] },
  { layer: "sources/", from: ["model/"], packages: [] },
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
  { layer: "store/", from: ["model/", "protocol.ts", "sources/"], packages: ["node:*", "zod"] },
  {
    layer: "server/sessions/",
    from: ["model/", "protocol.ts"],
    packages: ["node:*", "hono", "zod"],
  },
  {
    layer: "server/index/",
    from: ["model/", "protocol.ts", "store/", "server/sessions/"],
    packages: ["node:*"],
  },
  {
    layer: "server/files/",
    from: ["model/", "protocol.ts", "store/", "server/sessions/"],
    packages: ["node:*"],
  },
  {
    layer: "server/config.ts",
    from: ["model/", "providers/", "agent/", "store/"],
    packages: ["node:*", "zod"],
  },
  { layer: "server/usage-error.ts", from: ["model/"], packages: [] },
  {
    layer: "server/archive/",
    from: ["model/", "store/", "server/files/"],
    packages: ["node:*"],
  },
  { layer: "server/processes/", from: ["model/"], packages: ["node:*"] },
  {
    layer: "server/import/",
    from: [
      ...SERVER_LIBRARIES,
      "sources/",
      "store/",
      "server/archive/",
      "server/files/",
      "server/processes/",
    ],
    packages: ["node:*"],
  },
  {
    layer: "server/managed/",
    from: [
      ...SERVER_LIBRARIES,
      "sources/",
      "providers/",
      "agent/",
      "store/",
      "server/config.ts",
      "server/files/",
    ],
    packages: ["node:*", "zod", "hono"],
  },
  { layer: "adapters/", from: [], packages: [] },
  {
    layer: "server/attach/",
    from: [...SERVER_LIBRARIES, "store/", "sources/", "server/processes/", "server/usage-error.ts"],
    packages: ["node:*", "hono", "diff", "jsonc-parser", "ws"],
  },
  {
    layer: "server/notify/",
    from: [...SERVER_LIBRARIES, "store/"],
    packages: ["node:*", "hono", "web-push", "zod"],
  },
  { layer: "server/posted/", from: SERVER_LIBRARIES, packages: ["node:*", "hono"] },
  { layer: "server/auth/", from: SERVER_LIBRARIES, packages: ["node:*", "hono"] },
  { layer: "server/live/", from: SERVER_LIBRARIES, packages: ["node:*", "ws"] },
  {
    layer: "server/http/",
    from: [...SERVER_LIBRARIES, "server/auth/", "server/files/", "server/live/", "server/usage-error.ts"],
    packages: ["node:*", "hono", "@hono/node-server", "ws"],
  },
  {
    layer: "server/cli/",
    from: [
      ...SERVER_LIBRARIES,
      "sources/",
      "providers/",
      "agent/",
      "store/",
      "server/config.ts",
      "server/archive/",
      "server/attach/",
      "server/auth/",
      "server/http/",
      "server/import/",
      "server/live/",
      "server/managed/",
      "server/notify/",
      "server/posted/",
      "server/usage-error.ts",
    ],
    packages: ["node:*", "ws", "zod", "@modelcontextprotocol/sdk"],
  },
  { layer: "web/text/", from: ["model/", "protocol.ts", "web/api/", "web/ui/"], packages: [] },
  { layer: "web/ui/", from: ["hidden-text/", "web/text/"], packages: ["react", "react-dom"] },
  { layer: "web/virtual-list/", from: ["web/ui/"], packages: ["react", "react-dom"] },
  {
    layer: "web/code/",
    from: ["hidden-text/", "web/text/", "web/ui/"],
    packages: ["react", "react-dom", "shiki"],
  },
  {
    layer: "web/markdown/",
    from: ["hidden-text/", "web/text/", "web/ui/", "web/code/"],
    packages: ["react", "react-markdown", "micromark*", "mdast*", "hast*"],
  },
  {
    layer: "web/transcript/",
    from: [...WEB_LIBRARIES, "web/code/", "web/markdown/"],
    packages: ["react", "diff"],
  },
  { layer: "web/api/", from: ["model/", "protocol.ts", "web/text/"], packages: ["zustand"] },
  {
    layer: "web/",
    from: [
      ...WEB_LIBRARIES,
      "web/api/",
      "web/code/",
      "web/markdown/",
      "web/transcript/",
      "web/virtual-list/",
    ],
    packages: ["react", "react-dom", "zustand"],
  },
];
/** Run before anything is installed or built: they are in no layer, and import only Node and each other. */
const BOOTSTRAP = ["install.mjs", "start.mjs"];

const layerOf = (path: string) =>
  LAYERS.filter(({ layer }) => path.startsWith(layer)).toSorted(
    (one, other) => other.layer.length - one.layer.length,
  )[0];
const isOf = (allowed: string, name: string) =>
  allowed.endsWith("*")
    ? name.startsWith(allowed.slice(0, -1))
    : name === allowed || name.startsWith(`${allowed}/`);

/** Every import of every source file. `target`: a path below `src`; `types`: erased when it is compiled. */
const imports = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(SRC, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
  .filter((file) => /\.(tsx?|mjs)$/.test(file) && !BOOTSTRAP.includes(file))
  .flatMap((file) => {
    const text = readFileSync(join(SRC, file), "utf8");
    const found = text.matchAll(
      /^(import|export)\s+(type\s)?[^"';]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)|^import\s+"([^"]+)"/gm,
    );
    return [...found].map(([, , types, named, dynamic, bare]) => {
      const name = named ?? dynamic ?? bare ?? "";
      const target = name.startsWith(".")
        ? join(dirname(file), name.replace(/\?.*/, "")).replaceAll(sep, "/")
        : undefined;
      return { file, name, target, types: types !== undefined };
    });
  });

it("imports only along the arrows of the architecture", () => {
  const wrong: string[] = [];
  for (const { file, name, target } of imports) {
    const own = layerOf(file);
    if (own === undefined) {
      wrong.push(`${file} is in no layer`);
    } else if (target !== undefined) {
      const layer = layerOf(target)?.layer;
      const isAllowed = layer === own.layer || own.from.some((allowed) => allowed === layer);
      if (!isAllowed && !target.endsWith(".css")) wrong.push(`${file} imports ${target}`);
    } else if (!own.packages.some((each) => isOf(each, name))) {
      wrong.push(`${file} imports ${name}`);
    }
  }
  expect(wrong).toEqual([]);
});

// The compiler does not see style sheets, nor the pages of the benchmarks, whose other packages are not installed.
it("imports only files that exist and names that they export, in the benchmarks too", () => {
  const wrong = ["src", "bench"].flatMap((folder) =>
    readdirSync(join(SRC, "..", folder), { recursive: true, withFileTypes: true })
      .filter(({ name, parentPath }) => /\.tsx?$/.test(name) && !parentPath.includes("node_modules"))
      .flatMap(({ name, parentPath }) => {
        const file = join(parentPath, name);
        const found = readFileSync(file, "utf8").matchAll(
          /^import (?:type )?(?:\{([^}]*)\} from )?[^"]*?"(\.{1,2}\/[^"?]+)(?:\?[^"]*)?";$/gm,
        );
        return [...found].flatMap(([, names = "", path = ""]) => {
          const target = join(parentPath, path);
          if (!existsSync(target)) return [`${file} imports ${target}`];
          if (!file.includes(join("bench", "browser"))) return [];
          const exported = readFileSync(target, "utf8");
          return names
            .split(",")
            .map((each) =>
              each
                .trim()
                .replace(/^type /, "")
                .replace(/ as .*/, ""),
            )
            .filter((each) => each !== "" && !new RegExp(`^export [^;]*?\\b${each}\\b`, "m").test(exported))
            .map((each) => `${file} imports ${each} of ${target}`);
        });
      }),
  );
  expect(wrong).toEqual([]);
});

it("has no import circle", () => {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports)
    if (target !== undefined) targets.set(file, [...(targets.get(file) ?? []), target]);
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    const at = path.indexOf(file);
    if (at !== -1) circles.push([...path.slice(at), file].join(" → "));
    if (at !== -1 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  expect(circles).toEqual([]);
});
