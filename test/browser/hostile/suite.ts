import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../eventually.ts";
import { LONG, times } from "../../long.ts";
import { sharedData } from "../../shared-data.ts";
import { createHome, type Daemon, type Home, startDaemon } from "../harness.ts";
import type { Engine, EnginePage } from "./engine.ts";
import { evaluates, type SeenRow, titlesOnPage, type Witnessed, walk } from "./page-side.ts";
import { type Family, type Payload, payloads, textOf } from "./payloads.ts";
import { type RecordingProxy, type RecordingProxyOptions, startRecordingProxy } from "./recording-proxy.ts";
import { type HostileSession, healthy, hostileSession } from "./session.ts";
import { clickFrames, firedFrames, UNSAFE_HOST, unsafePages } from "./unsafe.ts";

const whose = sharedData("payloads") === undefined ? "this repository's own" : "the shared";
/** The share of the attacks that must fire in a page without any protection. */
const ENOUGH = 200 / 246;

/** Number of attacks that are streamed at once: as many turns are in view together. */
const AT_ONCE = 3;

export interface Extent {
  /** Tries only every n-th attack: all of them take minutes for each way of serving them, which only the long runs do. */
  every: number;
  /** Clicks only every n-th of them under the policy too, because the policy can only restrict what is possible without it. */
  clickedUnderPolicy: number;
}

const FAMILIES = ["xss", "exfil", "urls", "ansi", "unicode"] as const satisfies Family[];

interface Attack {
  family: Family;
  attack: Payload;
}

const each = <Item>(items: readonly Item[], every: number): Item[] =>
  items.filter((_item, index) => index % every === 0);

const attackOf = ({ attack }: Attack): Payload => attack;

/** A URL in every Markdown form. */
function asMarkdown(family: Family, attack: Payload): Payload {
  if (family !== "urls") return attack;
  const url = textOf(attack.input);
  if (attack.id.includes("-auto-")) return attack;
  const destination = /[\s<>]/.test(url) ? `<${url.replaceAll(/[<>\n]/g, "")}>` : url;
  return { ...attack, input: `[words](${destination}) ![image](${destination})` };
}

/** `host:port` of an address or of a tunnel's target. */
const hostOf = (url: string): string => (url.includes("//") ? new URL(url).host : url);

/** The whole harness, in one browser. */
export function hostileSuite(
  name: string,
  openEngine: (proxyPort: number) => Promise<Engine>,
  { every, clickedUnderPolicy }: Extent = { every: times(72, 1), clickedUnderPolicy: times(3, 1) },
): void {
  const chosen = (families: readonly Family[] = FAMILIES): Attack[] =>
    each(
      families.flatMap((family) => payloads(family).map((attack) => ({ family, attack }))),
      Number(process.env.HOSTILE_EVERY ?? every),
    );

  describe(`hostile text in ${name} (${whose} payloads)`, () => {
    let home: Home;
    let daemon: Daemon;
    const closing: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      home = await createHome();
      daemon = await startDaemon(home, ["--no-samples"]);
    });
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      await daemon.stop();
      await home.remove();
    });

    const open = async (
      options: Omit<RecordingProxyOptions, "origin"> = {},
    ): Promise<{ proxy: RecordingProxy; engine: Engine; page: EnginePage }> => {
      const proxy = await startRecordingProxy({ origin: daemon.origin, ...options });
      closing.push(() => proxy.close());
      const engine = await openEngine(proxy.port);
      closing.push(() => engine.close());
      return { proxy, engine, page: await engine.newPage() };
    };

    const write = async (session: HostileSession): Promise<string> => {
      const folder = join(home.claude, "projects/-home-ada-hostile");
      await mkdir(folder, { recursive: true });
      const path = join(folder, `${session.session_id}.jsonl`);
      await writeFile(
        path,
        session.turns
          .flat()
          .map((line) => `${line}\n`)
          .join(""),
      );
      return path;
    };

    const witnessed = (page: EnginePage): Promise<Witnessed> =>
      // Set by the witness.
      page.run(() => Reflect.get(window, "__witnessed") as Witnessed, undefined);

    /** Nothing ran, was requested, opened or navigated. */
    const nothingHappened = async (
      page: EnginePage,
      proxy: RecordingProxy,
      engine: Engine,
      url: string,
    ): Promise<void> => {
      expect(await witnessed(page)).toEqual({ executed: [], opened: [], violations: [], errors: [] });
      expect(proxy.foreign.filter(({ url }) => !engine.background.test(hostOf(url)))).toEqual([]);
      expect(proxy.own.filter((asked) => !isProducts(asked.url))).toEqual([]);
      expect(await page.run(() => location.href.split("#", 1)[0] ?? "", undefined)).toBe(url);
      const reported = engine.reported?.filter(
        (asked) => !asked.url.startsWith(daemon.origin) && !asked.url.startsWith("blob:"),
      );
      expect(reported ?? []).toEqual([]);
    };
    /** The page's own requests to its daemon. */
    const isProducts = (address: string): boolean =>
      /^\/(?:$|\?|launch\?|session\/|assets\/|api\/|[\w-]+\.(?:js|css|svg|png|ico|webmanifest|woff2?)$)/.test(
        address.slice(daemon.origin.length),
      );

    const enter = async (page: EnginePage): Promise<void> => {
      await page.goto(daemon.launch);
      await eventually(async () =>
        expect(await page.run(() => document.querySelector("main") !== null, undefined)).toBe(true),
      );
    };
    const openAll = (page: EnginePage): Promise<boolean> =>
      page.run(() => {
        const button = [...document.querySelectorAll("button")].find(
          (each) => each.textContent === "Expand all",
        );
        button?.click();
        return button !== undefined;
      }, undefined);
    const openSession = async (page: EnginePage, session: HostileSession): Promise<string> => {
      const url = `${daemon.origin}/session/${session.session_id}`;
      await page.goto(url);
      await eventually(async () => expect(await openAll(page)).toBe(true));
      return url;
    };

    it("fires in a renderer that trusts it, so that the harness would see it", async () => {
      const attacks = [...payloads("xss"), ...payloads("exfil")];
      const { proxy, page } = await open({ pages: unsafePages(attacks) });
      await page.goto(`http://${UNSAFE_HOST}/control`);
      const fired = async (): Promise<Set<number>> => {
        const found = new Set(Object.keys(await page.run(firedFrames, undefined)).map(Number));
        for (const { url } of proxy.foreign) {
          const [, n] =
            /(?:\/\/|^|\.)p(\d+)\.|\/frame\/(\d+)\//i.exec(url)?.filter((group) => group !== undefined) ?? [];
          if (n !== undefined) found.add(Number(n));
        }
        return found;
      };
      await page.run(clickFrames, undefined);
      await eventually(async () =>
        expect((await fired()).size).toBeGreaterThanOrEqual(Math.floor(attacks.length * ENOUGH)),
      );
      process.stdout.write(`  control: ${(await fired()).size} of ${attacks.length} fire in ${name}\n`);
    });

    const ways = [
      { way: "whole, under the policy", withoutPolicy: false, streamed: false },
      { way: "whole, without the policy", withoutPolicy: true, streamed: false },
      { way: "as it is written, under the policy", withoutPolicy: false, streamed: true },
      { way: "as it is written, without the policy", withoutPolicy: true, streamed: true },
    ];
    // What the policy blocks does not depend on whether a text is streamed.
    it.each(LONG ? ways : ways.filter(({ withoutPolicy, streamed }) => withoutPolicy || !streamed))(
      "is only text in every place, $way",
      async ({ withoutPolicy, streamed }) => {
        // The policy affects what runs and loads, not the appearance of text.
        const families = withoutPolicy ? FAMILIES : FAMILIES.slice(0, 3);
        const all = chosen(families).map(({ family, attack }) => ({
          family,
          attack: asMarkdown(family, attack),
        }));
        const attacks = all.map(attackOf);
        const session = hostileSession("all", attacks);
        const path = await write(streamed ? { ...session, turns: session.turns.slice(0, 1) } : session);
        const { proxy, engine, page } = await open({ withoutPolicy, inPieces: streamed });
        await enter(page);
        const url = await openSession(page, session);
        // Without the policy, only the product's own protection remains.
        expect(await page.run(evaluates, undefined)).toBe(withoutPolicy);
        if (streamed) await stream(page, path, session, attacks);

        const first = await page.run(walk, { click: false });
        await nothingHappened(page, proxy, engine, url);
        check(first, all, false);

        // A streamed session has resulted in the same document by now.
        if (streamed && !LONG) return;
        const some = withoutPolicy ? all : each(all, clickedUnderPolicy);
        const part = some.length === all.length ? session : hostileSession("clicked", some.map(attackOf));
        if (part !== session) await write(part);
        const place = part === session ? url : await openSession(page, part);
        const second = await page.run(walk, { click: true });
        await nothingHappened(page, proxy, engine, place);
        check(second, some, true);
      },
      1_800_000,
    );

    /** Writes the session a few turns at a time, once the page has the previous ones and is at their end. */
    const stream = async (
      page: EnginePage,
      path: string,
      session: HostileSession,
      attacks: readonly Payload[],
    ): Promise<void> => {
      await page.run(() => {
        const region = document.querySelector('[role="region"][aria-label="Transcript"]');
        region?.scrollTo(0, region.scrollHeight);
      }, undefined);
      for (let next = 0; next < session.turns.length; ) {
        // The first turn is there.
        const end = next === 0 ? 1 : next + AT_ONCE;
        const lines = next === 0 ? [] : session.turns.slice(next, end).flat();
        if (lines.length > 0) await appendFile(path, lines.map((line) => `${line}\n`).join(""));
        next = Math.min(end, session.turns.length);
        const last = healthy(attacks[next - 1]?.id ?? "");
        await eventually(async () =>
          expect(
            await page.run(
              (text) => document.querySelector('[role="region"]')?.textContent?.includes(text) === true,
              last,
            ),
          ).toBe(true),
        );
      }
    };

    it("is only text as a title, in the list and at the head of a session", async () => {
      const attacks = chosen().map(attackOf);
      for (const [index, attack] of attacks.entries()) {
        const session = hostileSession(`title ${index}`, [{ ...attack, id: `title-${index}` }]);
        // The prompt, the title, an answer.
        await write({ ...session, turns: [session.turns[0]?.slice(0, 4) ?? []] });
      }
      const { proxy, engine, page } = await open({ withoutPolicy: true });
      await enter(page);
      const titles = new Map<string, number>();
      await eventually(async () => {
        for (const { href, controls } of await page.run(titlesOnPage, undefined)) titles.set(href, controls);
        expect(titles.size).toBe(attacks.length);
      });
      expect([...titles].filter(([, controls]) => controls > 0)).toEqual([]);
      await nothingHappened(page, proxy, engine, `${daemon.origin}/`);
    });

    /** The checks of the visible rows, before and after clicks. */
    const check = (rows: readonly SeenRow[], attacks: readonly Attack[], clicked: boolean): void => {
      expect(rows.filter(({ dangers }) => dangers.length > 0)).toEqual([]);
      expect(rows.filter(({ controls }) => controls > 0)).toEqual([]);
      for (const { family, attack } of attacks) {
        const { id } = attack;
        const own = rows.filter((row) => row.attack === id);
        const texts = own.filter(({ kind }) => kind === "text");
        expect(
          texts.some(({ text }) => text.includes(healthy(id))),
          `${id}: its neighbour is there`,
        ).toBe(true);
        const visible = attack.expect.visible;
        if (typeof visible === "string")
          expect(
            own.some(({ text }) => text.includes(visible)),
            `${id} shows ${visible}`,
          ).toBe(true);
        if (family === "urls" && !clicked) checkAddress(attack, texts[0]);
        if (family === "ansi") checkTerminal(attack, own, clicked);
        if (family === "unicode") checkUnicode(attack, own);
      }
    };
  });
}

/** Blocked addresses are text, suspicious ones show their host and are not links yet, harmless ones are links. */
function checkAddress({ id, input, expect: wanted }: Payload, row: SeenRow | undefined): void {
  const links = row?.links.map(({ href }) => href) ?? [];
  if (wanted.link === "block") expect(links, id).toEqual([]);
  if (wanted.link === "confirm") {
    expect(links, id).toEqual([]);
    // A backslash is Markdown's escape, so the resulting address is a different one, or none.
    if (typeof wanted.shownHost === "string" && !textOf(input).includes("\\"))
      expect(row?.hosts, id).toContain(wanted.shownHost);
  }
  if (wanted.link === "allow") expect(links[0], id).toMatch(/^(?:https?:|mailto:|#)/);
  if (Array.isArray(wanted.autolink)) expect(links, id).toEqual(wanted.autolink);
}

/** The text of terminal output is shown, completely at the latest after a click, and has only allowed links. */
function checkTerminal(
  { id, input, expect: wanted }: Payload,
  rows: readonly SeenRow[],
  clicked: boolean,
): void {
  const tools = rows.filter(({ kind }) => kind === "tool");
  const { text, link, mustContain } = wanted;
  if (typeof text === "string")
    expect(
      tools.map(({ output }) => output),
      id,
    ).toContain(text);
  if (typeof mustContain === "string")
    expect(tools.map(({ output }) => output).join(), id).toContain(mustContain);
  if (link === null)
    expect(
      tools.flatMap(({ links }) => links),
      id,
    ).toEqual([]);
  if (typeof link === "object" && link !== null && "href" in link)
    expect(
      tools.flatMap(({ links }) => links.map(({ href }) => href)),
      id,
    ).toContain(link.href);
  if (wanted.recoverable === true && clicked) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences are not text.
    const readable = textOf(input).replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, " ");
    const shown = tools.map(({ output }) => output).join();
    for (const word of readable.match(/[a-z]{5,}/g) ?? []) expect(shown, id).toContain(word);
  }
}

/**
 * Invisible characters are marked in text and in code; letters that only look Latin are marked in names; legitimate characters
 * are not marked.
 */
function checkUnicode({ id, expect: wanted }: Payload, rows: readonly SeenRow[]): void {
  const isName = String(wanted.where ?? "").includes("host names");
  const marked = rows.filter(({ marks }) => marks.length > 0);
  if (wanted.flag === true && !isName)
    expect(
      marked.map(({ kind }) => kind),
      id,
    ).toContain("text");
  if (wanted.flag === true && isName && !id.endsWith("homo-06"))
    expect(
      marked.map(({ kind }) => kind),
      id,
    ).toContain("tool");
  if (wanted.decoded === true)
    expect(marked.flatMap(({ marks }) => marks).join(), id).toMatch(/\d+ hidden: /);
  // A change of the model also names the model before it, which is the text of another attack.
  if (wanted.flag === false)
    expect(
      marked.filter(({ kind }) => kind !== "model"),
      id,
    ).toEqual([]);
}
