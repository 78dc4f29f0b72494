import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}
const locked = (lock: string): [string, Locked][] =>
  // npm's own file; its fields are checked one by one.
  Object.entries((JSON.parse(read(lock)) as { packages: Record<string, Locked> }).packages).filter(
    ([path]) => path !== "",
  );
const manifest = JSON.parse(read("package.json")) as {
  devDependencies: Record<string, string>;
  dependencies?: Record<string, string>;
  allowScripts: Record<string, boolean>;
};

describe.each(["package-lock.json", "bench/package-lock.json", "test/mutation/package-lock.json"])(
  "%s",
  (lock) => {
    it("has every package from the npm registry, with the hash of its content", () => {
      const wrong = locked(lock).filter(
        ([path, { resolved, integrity, version, link }]) =>
          !path.includes("node_modules/") ||
          link === true ||
          !(resolved === undefined || resolved.startsWith("https://registry.npmjs.org/")) ||
          !/^sha512-/.test(integrity ?? "") ||
          !/^\d+\.\d+\.\d+/.test(version ?? ""),
      );
      expect(wrong).toEqual([]);
    });

    it("has no install script except the runtime's", () => {
      const scripts = locked(lock).filter(([, { hasInstallScript }]) => hasInstallScript === true);
      const allowed = lock === "package-lock.json" ? ["node_modules/node"] : [];
      expect(scripts.map(([path]) => path)).toEqual(allowed);
    });
  },
);

describe("package.json", () => {
  it("allows only the runtime's install script, and npm fails for any other one", () => {
    expect(manifest.allowScripts).toEqual({ node: true });
    expect(read(".npmrc")).toMatch(/^strict-allow-scripts=true$/m);
  });

  it("names versions of the registry, never a URL or a folder", () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const [name, range] of Object.entries(all))
      expect([name, range]).toEqual([name, expect.stringMatching(/^[\^~]?\d/)]);
  });
});

describe("docs/dependencies.md", () => {
  const table = [
    ...read("docs/dependencies.md").matchAll(/^\| (?!package|---)(.+?) \| (.+?) \| (.+?) \| (.+?) \|$/gm),
  ].map(([, names = "", licence = "", size = "", why = ""]) => ({
    names: names.split(", "),
    licence,
    size,
    why,
  }));
  /** Name to licence; a row of the table may have several packages. */
  const rows = table.flatMap(({ names, ...row }) => names.map((name) => ({ name, ...row })));
  const used = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const rowOf = (name: string) =>
    rows.find((row) => row.name === name) ??
    rows.find((row) => row.name.endsWith("/*") && name.startsWith(row.name.slice(0, -1)));

  it("has a row for every package that is used, with its reason, size and licence", () => {
    for (const name of used) {
      const row = rowOf(name);
      expect([name, row?.why]).toEqual([name, expect.stringMatching(/\w{3}/)]);
      expect([name, row?.size]).toEqual([name, expect.stringMatching(/^[\d.]+ [KM]B$/)]);
      const path = join(root, "node_modules", name, "package.json");
      if (!existsSync(path)) continue;
      const { license } = JSON.parse(readFileSync(path, "utf8")) as { license?: string };
      const words = (license ?? "").replaceAll(/[()]/g, "").split(" OR ");
      expect([name, words.every((word) => row?.licence.includes(word))]).toEqual([name, true]);
    }
  });

  it("has the size of each row's packages, within a fifth", () => {
    const wrong: string[] = [];
    for (const { names, size } of table) {
      const packages = names.flatMap((name) =>
        name.endsWith("/*") ? used.filter((each) => each.startsWith(name.slice(0, -1))) : name,
      );
      // Another platform's runtime has another size.
      if (names.includes("node")) continue;
      const bytes = packages.reduce((sum, name) => sum + weightOf(join(root, "node_modules", name)), 0);
      const [, number = "", unit = ""] = /^([\d.]+) ([KM])B$/.exec(size) ?? [];
      const said = Number(number) * (unit === "K" ? 1_000 : 1_000_000);
      if (Math.abs(said - bytes) > bytes / 5) wrong.push(`${names.join(", ")}: ${size}, not ${bytes} bytes`);
    }
    expect(wrong).toEqual([]);
  });

  it("has no row for a package that is not used", () => {
    const idle = rows.filter(({ name }) =>
      name.endsWith("/*") ? !used.some((each) => each.startsWith(name.slice(0, -1))) : !used.includes(name),
    );
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});

/** Bytes of a package's own files. */
function weightOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile()) bytes += statSync(path).size;
    else if (entry.isDirectory() && entry.name !== "node_modules") bytes += weightOf(path);
  }
  return bytes;
}
