import { writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  BROKEN_CONNECTION,
  createHome,
  cutProxy,
  type Daemon,
  enter,
  type Home,
  openPage,
  startDaemon,
} from "./harness.ts";
import { openTestBrowser, type TestBrowser } from "./shared-browser.ts";

const PASSWORD = "correct horse battery";
/** A part of a session that this daemon does not have; a signed-in browser shows that it is missing. */
const PATH = "/session/00000000-0000-4000-8000-000000000000#part-1";

let home: Home;
let args: string[];
let daemon: Daemon;
let browser: TestBrowser;
/** Another site's page: for browsers `localhost` and `127.0.0.1` are different sites. */
let chat: { server: Server; address: string };

beforeEach(async () => {
  home = await createHome();
  const password = join(home.path, "password");
  await writeFile(password, `${PASSWORD}\n`);
  args = ["--no-samples", "--password-file", password];
  daemon = await startDaemon(home, args);
  browser = await openTestBrowser();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<link rel="icon" href="data:,"><a href="${daemon.origin}${PATH}">Look at this</a>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The address is a string only for pipes.
  chat = { server, address: `http://localhost:${(server.address() as AddressInfo).port}/` };
});
afterEach(async () => {
  await browser.close();
  await daemon.stop();
  chat.server.close();
  await home.remove();
});

async function follow(page: Page): Promise<void> {
  await page.goto(chat.address);
  await page.getByRole("link", { name: "Look at this" }).click();
}

it("opens a part from a link on another site in a signed-in browser", async () => {
  const { page, complaints } = await enter(await browser.newContext(), daemon, [/status of 401/]);
  for (const _ of ["once", "and again, at once"]) {
    await follow(page);
    await page.getByRole("heading", { name: "No such session" }).waitFor();
    expect(page.url()).toBe(daemon.origin + PATH);
    await page.reload();
    await page.getByRole("heading", { name: "No such session" }).waitFor();
  }
  expect(complaints).toEqual([]);
});

it("leads to the linked part after the password", async () => {
  for (const go of [follow, (page: Page) => page.goto(daemon.origin + PATH)]) {
    const { page, complaints } = await openPage(await browser.newContext(), [/status of 401/]);
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.isNavigationRequest() && request.url().startsWith(daemon.origin)) asked.push(request.url());
    });
    await go(page);
    await page.getByLabel("Password").fill(PASSWORD);
    // No loop: from another site's page it takes one more step, and then the form stays.
    expect(asked).toHaveLength(go === follow ? 2 : 1);
    expect(page.url()).toBe(daemon.origin + PATH);
    await page.getByRole("button", { name: "Enter" }).click();
    await page.getByRole("heading", { name: "No such session" }).waitFor();
    expect(page.url()).toBe(daemon.origin + PATH);
    expect(complaints).toEqual([]);
  }
});

it("asks for the password when the cookie is gone, and returns to the same place", async () => {
  const context = await browser.newContext();
  const { page, complaints } = await enter(context, daemon, BROKEN_CONNECTION);
  await page.goto(daemon.origin + PATH);
  await page.getByRole("heading", { name: "No such session" }).waitFor();
  await context.clearCookies();
  await daemon.stop();
  daemon = await startDaemon(home, [...args, "--port", String(daemon.port)]);
  await page.getByText(/there is a password, “Try again” asks for it/).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("heading", { name: "No such session" }).waitFor();
  expect(page.url()).toBe(daemon.origin + PATH);
  expect(complaints).toEqual([]);
});

it("is live behind an ssh port forward that --origin names", async () => {
  const forwarded = await cutProxy(daemon.port);
  await daemon.stop();
  const origin = `http://localhost:${forwarded.port}`;
  daemon = await startDaemon(home, ["--no-samples", "--port", String(daemon.port), "--origin", origin]);
  expect(daemon.origin).toBe(origin);
  const { page, complaints } = await enter(await browser.newContext(), daemon);
  await page.getByRole("heading", { name: /No sessions/ }).waitFor();
  expect(complaints).toEqual([]);
  await forwarded.close();
});

it("explains a proxy that uses another host name", async () => {
  const { port } = daemon;
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: `127.0.0.1:${port}` };
    const passed = request(
      { port, host: "127.0.0.1", method: incoming.method, path: incoming.url, headers },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      },
    );
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  // As above.
  const origin = `http://localhost:${(proxy.address() as AddressInfo).port}`;
  await daemon.stop();
  daemon = await startDaemon(home, [...args, "--port", String(port), "--origin", origin]);
  const page = await browser.newPage();
  await page.goto(origin);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText(/A proxy in between must forward the original Host header/).waitFor();
  proxy.close();
  proxy.closeAllConnections();
});

it("shows the login page after one step if every step counts as cross-site", async () => {
  const { page, complaints } = await openPage(await browser.newContext(), [/status of 401/]);
  let asked = 0;
  await page.route(`${daemon.origin}/session/**`, async (route) => {
    asked += 1;
    const headers = { ...route.request().headers(), "sec-fetch-site": "cross-site" };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await follow(page);
  await page.getByLabel("Password").fill(PASSWORD);
  expect(asked).toBe(2);
  expect(page.url()).toBe(daemon.origin + PATH);
  expect(complaints).toEqual([]);
});
