import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import type { Engine } from "../browser/hostile/engine.ts";
import { findCommand } from "./firefox.ts";

/** The programs to drive WebKitGTK: its driver, its MiniBrowser, and a virtual screen. */
export function findWebKit(): { driver: string; browser: string; screen: string } | undefined {
  const driver = findCommand("WebKitWebDriver");
  const browser = globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser").find((path) => existsSync(path));
  const screen = findCommand("Xvfb");
  return driver !== undefined && browser !== undefined && screen !== undefined
    ? { driver, browser, screen }
    : undefined;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** WebKitGTK's MiniBrowser, driven by WebDriver. */
export async function openWebKit(proxyPort: number): Promise<Engine> {
  const found = findWebKit();
  if (found === undefined) throw new Error("No WebKitGTK was found.");
  // The virtual screen prints its number.
  const screen = spawn(
    found.screen,
    ["-displayfd", "1", "-screen", "0", "1400x1600x24", "-nolisten", "tcp"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const display = await new Promise<string>((resolve, reject) => {
    screen.stdout.once("data", (chunk: Buffer) => resolve(`:${chunk.toString().trim()}`));
    screen.once("exit", (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  const port = await freePort();
  const driver = spawn(found.driver, [`--port=${port}`, "--host=local"], {
    env: {
      ...process.env,
      DISPLAY: display,
      GDK_BACKEND: "x11",
      LIBGL_ALWAYS_SOFTWARE: "1",
      WEBKIT_DISABLE_DMABUF_RENDERER: "1",
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
      GSETTINGS_BACKEND: "memory",
    },
    stdio: "ignore",
  });
  /** The protocol's own replies; each use declares the fields that it needs. */
  const ask = async <Reply>(method: string, path: string, body?: object): Promise<Reply> => {
    // Not `fetch`, which times out if a reply takes five minutes.
    const { ok, text } = await new Promise<{ ok: boolean; text: string }>((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port, method, path, headers: { "content-type": "application/json" } },
        (reply) => {
          let received = "";
          reply.setEncoding("utf8");
          reply.on("data", (chunk: string) => {
            received += chunk;
          });
          reply.on("error", reject);
          reply.on("end", () => resolve({ ok: reply.statusCode === 200, text: received }));
        },
      );
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
    const { value }: { value: Reply & { error?: string; message?: string } } = JSON.parse(text);
    if (!ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  for (let n = 0; ; n++) {
    try {
      await ask("GET", "/status");
      break;
    } catch (error) {
      if (n > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  // Not the protocol's own setting, with which the driver uses TLS to the proxy for https addresses.
  const session = await ask<{ sessionId: string; capabilities: { browserVersion: string } }>(
    "POST",
    "/session",
    {
      capabilities: {
        alwaysMatch: {
          "webkitgtk:browserOptions": {
            binary: found.browser,
            args: ["--automation", "--geometry=1300x1500", `--proxy=http://127.0.0.1:${proxyPort}`],
          },
        },
      },
    },
  );
  const base = `/session/${session.sessionId}`;
  await ask("POST", `${base}/timeouts`, { script: 1_800_000, pageLoad: 120_000 });
  await ask("POST", `${base}/window/rect`, { width: 1_300, height: 1_500 }).catch(() => undefined);
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  };
  return {
    name: `WebKitGTK ${session.capabilities.browserVersion}`,
    // It makes no requests of its own.
    background: /^$/,
    async newPage() {
      return {
        goto: async (url) => {
          await ask("POST", `${base}/url`, { url });
        },
        run: async (what, argument) => {
          const script = `const done = arguments[arguments.length - 1];
(async () => (${what.toString()})(${JSON.stringify(argument) ?? ""}))().then(
  (value) => done(JSON.stringify({ value })),
  (error) => done(JSON.stringify({ error: String(error) })),
);`;
          const reply = await ask<string>("POST", `${base}/execute/async`, { script, args: [] });
          const { value, error } = JSON.parse(reply);
          if (error !== undefined) throw new Error(error);
          return value;
        },
      };
    },
    async close() {
      await ask("DELETE", base).catch(() => undefined);
      await end(driver);
      await end(screen);
    },
  };
}
