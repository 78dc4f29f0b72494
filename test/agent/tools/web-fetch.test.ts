import type { LookupAddress, LookupAllOptions } from "node:dns";
import { createServer, type RequestListener, type Server } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isPublicAddress } from "../../../src/agent/addresses.ts";
import { htmlToText } from "../../../src/agent/html-text.ts";
import type { PermissionRule } from "../../../src/agent/permissions.ts";
import { createWebFetchTool } from "../../../src/agent/tools/web-fetch.ts";
import { call, createTestHost, type TestHost } from "../host.ts";

/** A public name that resolves to this machine. */
vi.mock("node:dns", async (importOriginal) => {
  const dns = await importOriginal<typeof import("node:dns")>();
  const lookup = (hostname: string, ...rest: [LookupAllOptions, Callback]): void =>
    dns.lookup(hostname === "rebind.example.com" ? "127.0.0.1" : hostname, ...rest);
  return { ...dns, lookup };
});
type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

let host: TestHost;
let servers: Server[];
let requests: { url: string; headers: Record<string, unknown> }[];
beforeEach(() => {
  host = createTestHost();
  servers = [];
  requests = [];
});
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  host.remove();
});

/** A server on this machine; resolves with its origin. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

const allow = (...origins: string[]): PermissionRule[] =>
  origins.map((origin) => ({ tool: "web_fetch", pattern: `${origin}/*`, decision: "allow" }));

function get(url: string, rules: PermissionRule[] = [], more = {}, time_limit_ms = 20_000) {
  return call(createWebFetchTool({ rules: () => rules, time_limit_ms }), host, { url }, more);
}

describe("a page", () => {
  it("is returned as text, with its title and links", async () => {
    const origin = await serve((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader("content-encoding", "gzip");
      response.end(
        gzipSync(`<title>A &amp; B</title><h1>Hé</h1><p>See <a href="/x">this</a>.<script>bad()</script>`),
      );
    });
    const output = await get(`${origin}/page#part`, allow(origin));
    expect(output).toMatchObject({
      status: "success",
      output_text: `200 OK\n${origin}/page\nTitle: A & B\n\n# Hé\n\nSee this (${origin}/x).`,
      ui_extra: { type: "web_fetch", url: `${origin}/page`, status: 200 },
    });
    expect(requests[0]?.url).toBe("/page");
    expect(requests[0]?.headers).not.toHaveProperty("cookie");
    expect(requests[0]?.headers).not.toHaveProperty("referer");
  });

  it("that fails or is not text is reported", async () => {
    const origin = await serve((request, response) => {
      if (request.url === "/none")
        response.writeHead(404, { "content-type": "text/plain" }).end("nothing here");
      else response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([1, 0, 2]));
    });
    const none = await get(`${origin}/none`, allow(origin));
    expect(none).toMatchObject({ status: "error", ui_extra: { status: 404 } });
    expect(none.output_text).toContain("nothing here");
    expect((await get(`${origin}/image`, allow(origin))).output_text).toContain("[image/png is not text");
  });

  it("without end is truncated, compressed or not", async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, "x"));
    const origin = await serve((request, response) => {
      response.setHeader("content-type", "text/plain");
      if (request.url === "/bomb") response.setHeader("content-encoding", "gzip").end(bomb);
      else {
        const more = (): void => {
          while (!response.destroyed && response.write("y".repeat(65_536)));
          response.once("drain", more);
        };
        more();
      }
    });
    for (const path of ["/bomb", "/endless"]) {
      const { output_text, ui_extra } = await get(origin + path, allow(origin));
      expect(output_text).toContain("only the first 5 MB were read");
      expect(output_text.length).toBeLessThan(32_000);
      const [, persisted_path] = /complete output is in (\S+) …/.exec(output_text) ?? [];
      expect(ui_extra).toMatchObject({
        byte_size: 5 * 1024 ** 2,
        persisted_path,
        persisted_bytes: 5 * 1024 ** 2,
      });
    }
  });

  it("that does not arrive is not waited for, and can be stopped", async () => {
    const origin = await serve((request, response) => {
      if (request.url === "/half") response.writeHead(200, { "content-type": "text/plain" }).write("half");
    });
    for (const path of ["/never", "/half"])
      expect((await get(origin + path, allow(origin), {}, 300)).output_text).toBe(
        "It took longer than 0.3 s.",
      );
    expect((await get(origin, allow(origin), { signal: AbortSignal.abort() })).output_text).toBe("Stopped.");
  });
});

describe("a URL", () => {
  it("with a private address in any spelling is rejected before asking the user", async () => {
    const origin = await serve((_request, response) => response.end("inner"));
    const { port } = new URL(origin);
    const urls = [
      origin,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://0177.0.0.1:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://10.0.0.1/",
      "http://[fd00::1]/",
      "http://0.0.0.0/",
      `http://localhost:${port}/`,
      `http://LOCALHOST.:${port}/`,
      `http://app.localhost:${port}/`,
      "http://printer.local/",
      "http://wiki.internal./",
      "file:///etc/passwd",
      "ftp://example.com/",
      "http://name:password@example.com/",
      "javascript:1",
      "example.com",
    ];
    for (const url of urls) await expect(get(url), url).rejects.toThrow();
    // A rule for something else has no effect.
    for (const url of [origin, `http://localhost:${port}/`])
      await expect(get(url, [{ tool: "web_fetch", decision: "allow" }]), url).rejects.toThrow(
        /^\S+ is not in the public internet/,
      );
    expect(requests).toEqual([]);
  });

  it("whose name resolves to a private address is not connected to", async () => {
    const origin = await serve((_request, response) => response.end("inner"));
    const { port } = new URL(origin);
    const output = await get(`http://rebind.example.com:${port}/`);
    expect(output.status).toBe("error");
    expect(output.output_text).toMatch(
      /^rebind\.example\.com \(127\.0\.0\.1\) is not in the public internet/,
    );
    expect(requests).toEqual([]);
  });

  it("with a private name is fetched if a rule names it", async () => {
    const origin = await serve((_request, response) => response.end("inner"));
    const local = `http://localhost:${new URL(origin).port}`;
    expect((await get(`${local}/`, allow(local))).output_text).toContain("inner");
    expect(requests).toHaveLength(1);
  });

  it("is checked again at each redirect", async () => {
    const inner = await serve((_request, response) => response.end("inner"));
    const { port } = new URL(inner);
    let to = "";
    const origin = await serve((request, response) => {
      if (request.url === "/here") response.end("arrived");
      else response.writeHead(302, { location: to }).end();
    });
    const follow = async (location: string, rules = allow(origin)) => {
      to = location;
      return (await get(`${origin}/start`, rules)).output_text;
    };
    expect(await follow("/here")).toContain("arrived");
    expect(await follow("/start")).toBe("More than 5 redirects.");
    expect(await follow(`${inner}/`)).toContain("is not in the public internet");
    expect(await follow(`http://localhost:${port}/`)).toContain("is not in the public internet");
    expect(await follow("file:///etc/passwd")).toContain("Only http and https");
    expect(await follow("https://example.com/a")).toContain("To follow it, fetch https://example.com/a");
    expect(await follow(`${inner}/`, allow(origin, inner))).toContain("inner");
    const deny: PermissionRule = { tool: "web_fetch", pattern: "*/here", decision: "deny" };
    expect(await follow("/here", [...allow(origin), deny])).toContain("a rule does not allow");
    expect(requests.filter(({ headers }) => headers.host === `127.0.0.1:${port}`)).toHaveLength(1);
  });

  it("is classified as public by the registries of special addresses", () => {
    for (const address of [
      "1.1.1.1",
      "93.184.216.34",
      "2606:4700::1111",
      "172.15.0.1",
      "172.32.0.1",
      "100.128.0.1",
    ])
      expect(isPublicAddress(address), address).toBe(true);
    const special =
      "0.1.2.3 10.1.1.1 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:8.8.8.8 64:ff9b::7f00:1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 ff02::1 2001:db8::1 2002:7f00:1:: 2001:0:7f00:1:: example.com";
    for (const address of [...special.split(" "), ""]) expect(isPublicAddress(address), address).toBe(false);
  });
});

describe("the text of a page", () => {
  const text = (html: string) => htmlToText(html, "https://example.com/a/").text;

  it("keeps readable content: headings, lists, tables, code, images", () => {
    expect(
      text(
        `<h2>List</h2><ul><li>one<li>two <b>bold</b></ul><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x  =\n  1</pre><img alt="a cat" src=x><p>end<br>line`,
      ),
    ).toBe("## List\n- one\n- two bold\n\na | b\n1 | 2\n\nx  =\n  1\n\n[image: a cat]\n\nend\nline");
  });

  it("omits scripts, hidden content, and dead links", () => {
    expect(
      text(
        `<style>p{}</style><a href="javascript:x()">a</a> <a href="#b">b</a> <a href="../c">c</a><template>no</template><svg><text>no</text></svg>`,
      ),
    ).toBe("a b c (https://example.com/c)");
  });

  it("is extracted in one pass, for any page", () => {
    expect(text(`${"<div>".repeat(200_000)}deep`)).toBe("deep");
    expect(text(`${"<a href=x>".repeat(100_000)}link`)).toBe("link");
    expect(text("<".repeat(500_000))).toHaveLength(500_000);
    const pieces = [
      "<!--",
      "<![CDATA[",
      "&",
      "&a",
      "&#x",
      "</",
      "<a ",
      "<a b='",
      '<a b="&',
      "<script>",
      "<title>",
      "<pre>\n",
      "x<b>",
      "<td>",
      "<li>",
      "<svg>",
      "<?",
      "<!",
    ];
    for (const piece of pieces) expect(typeof text(piece.repeat(200_000)), piece).toBe("string");
  });
});
