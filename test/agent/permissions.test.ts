import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allowsPrivateHost,
  alwaysAllowed,
  decide,
  type PermissionRule,
} from "../../src/agent/permissions.ts";
import { anyCharacter } from "../any-character.ts";

const decision = (rules: PermissionRule[], tool_name: string, target: string) =>
  decide(rules, { tool_name, target }, "ask").decision;
const shell = (pattern: string, target: string, kind: PermissionRule["decision"] = "allow") =>
  decision([{ tool: "shell", pattern, decision: kind }], "shell", target);

describe("the deciding rule", () => {
  it("is the last matching one, or any matching deny", () => {
    const rules: PermissionRule[] = [
      { tool: "read", decision: "ask" },
      { tool: "read", pattern: "src/*", decision: "allow" },
    ];
    expect(decision(rules, "read", "src/a/b.ts")).toBe("allow");
    expect(decision(rules, "read", "docs/a.md")).toBe("ask");
    expect(decision(rules.toReversed(), "read", "src/a/b.ts")).toBe("ask");
    expect(decision([{ tool: "*", pattern: "*.env", decision: "deny" }, ...rules], "read", "src/.env")).toBe(
      "deny",
    );
    expect(decide([], { tool_name: "read", target: "a" }, "allow")).toEqual({ decision: "allow" });
    expect(decide(rules, { tool_name: "read", target: "src/a" }, "ask").rule).toBe(rules[1]);
  });

  it("supports wildcards in tool names", () => {
    expect(decision([{ tool: "mcp__files__*", decision: "allow" }], "mcp__files__list", "{}")).toBe("allow");
    expect(decision([{ tool: "mcp__files__*", decision: "allow" }], "mcp__filesystem__list", "{}")).toBe(
      "ask",
    );
    expect(decision([{ tool: "read", decision: "allow" }], "write", "a")).toBe("ask");
  });
});

describe("a pattern for commands", () => {
  it("allows what it shows", () => {
    for (const command of [
      "git status",
      "git status -s",
      "git status --short src/a.ts",
      "git status --format=x",
    ])
      expect(shell("git status*", command), command).toBe("allow");
    expect(shell("npm test -- * && echo done", "npm test -- src/a.test.ts && echo done")).toBe("allow");
    expect(shell("git status", "git status -s")).toBe("ask");
  });

  it("never allows a second command after the first", () => {
    const tails = [
      "; rm -rf ~",
      " && rm x",
      " || rm x",
      " | sh",
      " & rm x",
      "\nrm x",
      "\r\nrm x",
      " $(rm x)",
      " `rm x`",
      " > ~/.bashrc",
      " >> a",
      " < a",
      " <(rm x)",
      " '; rm x; '",
      ' "$(rm x)"',
      " \\\nrm x",
      " $" + "{IFS}x",
      " $HOME",
      " {a,b}",
      " ~",
      " *",
      " [a]",
      " ?",
      " #",
      " !",
      " \u202e",
      " \u200b",
      "\u2028rm x",
      "\u00a0rm x",
      "\u0000",
      "\u001b[2K",
      "\u{1f600}",
    ];
    for (const tail of tails)
      expect(shell("git status*", `git status${tail}`), JSON.stringify(tail)).toBe("ask");
    expect(shell("* status", "LD_PRELOAD=./x.so git status")).toBe("ask");
    expect(shell("*", "rm -rf x; true")).toBe("ask");
  });

  it("never allows characters with a meaning for the shell through a wildcard", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 30 }), (tail) => {
        const isPlain = /^[\p{L}\p{N}\p{M}_\-./,:@%+= \t]*$/u.test(tail);
        fc.pre(!isPlain);
        expect(shell("echo *", `echo ${tail}`)).toBe("ask");
      }),
      { numRuns: 2_000 },
    );
  });

  it("denies and asks for any part of a compound command", () => {
    for (const command of [
      "rm -rf x",
      "true; rm x",
      "true && rm   -rf x",
      "(rm x)",
      "echo $(rm x)",
      "a | rm x",
      "true\nrm x",
    ])
      expect(shell("rm *", command, "deny"), command).toBe("deny");
    expect(shell("rm *", "echo farm x", "deny")).toBe("ask");
  });

  it.each<PermissionRule["decision"]>(["deny", "ask"])(
    "with decision %s matches a command after prefixes such as env",
    (kind) => {
      const found = (pattern: string, command: string) =>
        decide(
          [
            { tool: "shell", decision: "allow" },
            { tool: "shell", pattern, decision: kind },
          ],
          { tool_name: "shell", target: command },
          "allow",
        ).decision;
      for (const command of [
        "if true; then rm x; fi",
        "if rm x; then true; elif rm y; then true; else rm z; fi",
        "for f in *; do rm $f; done",
        "while ! rm x; do sleep 1; done",
        "until rm x; do true; done",
        "! rm x",
        "time -p rm x",
        "A=1 rm x",
        "A=1 B+='2  3' C=\"4 5\"6 rm x",
        "{ rm x; }",
        "(rm x)",
        "command rm x",
        "exec -a name rm x",
        "env -i -u HOME A=1 rm x",
        "env -- rm x",
        "nohup nice -n 5 rm x",
        "sudo -n -u root --group=wheel rm x",
        "true && then\t\tsudo  rm   x",
      ])
        expect(found("rm *", command), command).toBe(kind);
      expect(found("sudo *", "A=1 sudo rm x")).toBe(kind);
      for (const command of [
        "git rm x",
        "sudo -n echo rm x",
        "echo then rm x",
        "a=rm x",
        "docs/time rm x",
        "environment rm x",
      ])
        expect(found("rm *", command), command).toBe("allow");
    },
  );

  it.each(["then ", "A=1 ", "sudo -u root ", "{ ", "! "])("allows no more after %j", (lead) => {
    expect(shell("git status*", `${lead}git status`)).toBe("ask");
  });

  it("is matched in few steps", () => {
    expect(shell("*a".repeat(5_000), "a".repeat(4_000))).toBe("ask");
    expect(shell("sudo *x", "sudo ".repeat(20_000), "deny")).toBe("ask");
    expect(shell("rm *", `A=${"''".repeat(50_000)}`, "deny")).toBe("ask");
    expect(shell("rm *", `A=${"'".repeat(50_001)}`, "deny")).toBe("ask");
  });
});

describe("a pattern for URLs", () => {
  const fetches = (pattern: string, target: string) =>
    decision([{ tool: "web_fetch", pattern, decision: "allow" }], "web_fetch", target);

  it("allows URLs on its host", () => {
    expect(fetches("https://docs.rs/*", "https://docs.rs/zod/latest?a=b")).toBe("allow");
    expect(fetches("https://*.example.com/*", "https://api.example.com/x")).toBe("allow");
  });

  it("does not match another host", () => {
    const others = [
      "https://evil.com/x.example.com/y",
      "https://evil.com/?.example.com/",
      "https://evil.com/#.example.com/",
      "https://a@evil.com/",
      "https://user:a.example.com@evil.com/x",
      "http://api.example.com/x",
      "https://evil.com:443/.example.com/x",
      "https://api.example.com.evil.com/x",
    ];
    for (const url of others) expect(fetches("https://*.example.com/*", new URL(url).href), url).toBe("ask");
    expect(fetches("*docs.rs*", "https://evil.com/docs.rs")).toBe("ask");
  });

  it.each<PermissionRule["decision"]>(["deny", "ask"])(
    "with decision %s matches the host in any spelling",
    (kind) => {
      const rules = (pattern: string): PermissionRule[] => [
        { tool: "web_fetch", decision: "allow" },
        { tool: "web_fetch", pattern, decision: kind },
      ];
      const found = (pattern: string, url: string) =>
        decision(rules(pattern), "web_fetch", new URL(url).href);
      for (const pattern of [
        "https://evil.com",
        "https://evil.com/*",
        "https://EVIL.com/*",
        "HTTPS://Evil.com",
        "https://evil.com./*",
        "https://evil.com:443/*",
        "https://*.com",
        "*://EVIL.com/*",
        "*evil.com/*",
      ])
        for (const url of [
          "https://evil.com/",
          "https://evil.com/A?b",
          "https://evil.com./A",
          "https://evil.com../",
        ])
          expect(found(pattern, url), `${pattern} ${url}`).toBe(kind);
      expect(found("https://evil.com:8443", "https://evil.com.:8443/a")).toBe(kind);
      expect(found("https://bücher.example", "https://bücher.example/a")).toBe(kind);
      expect(found("https://evil.com/A/*", "https://evil.com./A/b")).toBe(kind);
      for (const url of [
        "https://evil.community/",
        "http://evil.com/",
        "https://evil.com:8443/",
        "https://good.com/?https://evil.com/",
      ])
        expect(found("https://evil.com", url), url).toBe("allow");
      expect(found("https://evil.com/", "https://evil.com/a")).toBe("allow");
      expect(found("https://*?token=*", "https://evil.com/a?token=b")).toBe(kind);
      expect(found("https://*?token=*", "https://evil.com/a")).toBe("allow");
      expect(found("https://evil.com/A", "https://evil.com/a")).toBe("allow");
    },
  );

  it("matches a private address only by its own name", () => {
    const allows = (pattern: string, url: string) =>
      allowsPrivateHost([{ tool: "web_fetch", pattern, decision: "allow" }], url);
    expect(allows("http://127.0.0.1:8080/*", "http://127.0.0.1:8080/a")).toBe(true);
    expect(allows("http://localhost:3000/*", "http://localhost:3000/")).toBe(true);
    expect(allows("http://[::1]:3000/*", "http://[::1]:3000/")).toBe(true);
    expect(allows("http://*/*", "http://127.0.0.1/")).toBe(false);
    expect(allows("http://127.0.0.1:8080/*", "http://127.0.0.1:9090/a")).toBe(false);
    // A public name that resolves to a private address is the attack itself.
    expect(allows("http://rebind.example.com/*", "http://rebind.example.com/")).toBe(false);
    expect(allowsPrivateHost([{ tool: "web_fetch", decision: "allow" }], "http://127.0.0.1/")).toBe(false);
  });
});

describe("the rule of “always allow”", () => {
  it("allows this command, path or URL, or for tools without a target the tool", () => {
    const always = (tool_name: string, target: string) => alwaysAllowed({ tool_name, target });
    expect(always("shell", "ls *.ts")).toEqual({ tool: "shell", exact: "ls *.ts", decision: "allow" });
    expect(decision([always("shell", "ls *.ts")], "shell", "ls *.ts")).toBe("allow");
    expect(decision([always("shell", "ls *.ts")], "shell", "ls x.ts")).toBe("ask");
    expect(decision([always("write", "a.txt")], "write", "a.txt.sh")).toBe("ask");
    expect(always("mcp__sums__add", '{"a":1}')).toEqual({ tool: "mcp__sums__add", decision: "allow" });
  });

  it("allows only one of any two commands", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (one, other) => {
        const rules = [alwaysAllowed({ tool_name: "shell", target: one })];
        expect(decision(rules, "shell", one)).toBe("allow");
        expect(decision(rules, "shell", other)).toBe(one === other ? "allow" : "ask");
      }),
      { numRuns: 1_000 },
    );
  });
});
