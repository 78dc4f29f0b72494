import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WebSocket } from "ws";
import type { Engine } from "../browser/hostile/engine.ts";

/** A command in `PATH`. */
export function findCommand(...names: string[]): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return undefined;
}

export const findFirefox = (): string | undefined => findCommand("firefox-esr", "firefox");

const preferences = (proxyPort: number): Record<string, string | number | boolean> => ({
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": proxyPort,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": proxyPort,
  "network.proxy.no_proxies_on": "",
  // Otherwise requests to this machine would bypass the proxy.
  "network.proxy.allow_hijacking_localhost": true,
  "app.update.enabled": false,
  "browser.aboutwelcome.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.security.https_first": false,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "toolkit.telemetry.enabled": false,
});

/** Debian's Firefox, driven by WebDriver BiDi on its own port. */
export async function openFirefox(proxyPort: number): Promise<Engine> {
  const command = findFirefox();
  if (command === undefined) throw new Error("No Firefox was found.");
  const profile = await mkdtemp(join(tmpdir(), "verbatim-firefox-"));
  await writeFile(
    join(profile, "user.js"),
    Object.entries(preferences(proxyPort))
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
      .join(""),
  );
  const firefox = spawn(
    command,
    [
      "--headless",
      "--no-remote",
      "--width=1280",
      "--height=1500",
      "--profile",
      profile,
      "--remote-debugging-port",
      "0",
    ],
    { env: { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: "1" } },
  );
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    const read = (chunk: Buffer): void => {
      said += chunk.toString();
      const [, found] = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    firefox.stderr.on("data", read);
    firefox.stdout.on("data", read);
    firefox.once("exit", (code) => reject(new Error(`Firefox ended with ${code}:\n${said}`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let next = 0;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  socket.on("message", (data) => {
    const reply: { id?: number; result?: unknown; error?: string; message?: string } = JSON.parse(
      data.toString(),
    );
    const asked = waiting.get(reply.id ?? -1);
    waiting.delete(reply.id ?? -1);
    if (reply.error !== undefined) asked?.reject(new Error(`${reply.error}: ${reply.message}`));
    else asked?.resolve(reply.result);
  });
  /** The protocol's own replies; each use declares the fields that it needs. */
  const send = <Reply>(method: string, params: object): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve: (value) => resolve(value as Reply), reject });
      socket.send(JSON.stringify({ id, method, params }));
    });
  const session = await send<{ capabilities: { browserVersion: string } }>("session.new", {
    capabilities: {},
  });
  return {
    name: `Firefox ${session.capabilities.browserVersion}`,
    background:
      /(?:^|\.)(?:mozilla\.(?:com|net|org)|firefox\.com|mozaws\.net|mozgcp\.net|googleapis\.com)(?::\d+)?$/,
    async newPage() {
      const { context } = await send<{ context: string }>("browsingContext.create", { type: "tab" });
      return {
        goto: async (url) => {
          await send("browsingContext.navigate", { context, url, wait: "complete" });
        },
        run: async (what, argument) => {
          const reply = await send<{
            type: string;
            result?: { value: string };
            exceptionDetails?: { text: string };
          }>("script.evaluate", {
            expression: `(async () => JSON.stringify({ value: await (${what.toString()})(${JSON.stringify(argument) ?? ""}) }))()`,
            target: { context },
            awaitPromise: true,
          });
          if (reply.result?.value === undefined)
            throw new Error(reply.exceptionDetails?.text ?? "Firefox gave no result.");
          return JSON.parse(reply.result.value).value;
        },
      };
    },
    async close() {
      await send("browser.close", {}).catch(() => undefined);
      socket.terminate();
      if (firefox.exitCode === null) {
        const ended = new Promise((resolve) => firefox.once("exit", resolve));
        firefox.kill();
        await ended;
      }
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
