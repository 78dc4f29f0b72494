/**
 * What runs inside the page under test, in any browser: each function is sent as its source, so none may use anything of
 * this file's. They judge by what the document is, not by how the product made it.
 */

/** What happened in a page so far that no text may cause. */
export interface Witnessed {
  /** Calls of the canary and of dialogs. */
  executed: string[];
  /** Windows that were opened, other than by a link that says so. */
  opened: string[];
  /** Violations of the policy: something was tried. */
  violations: string[];
  /** Uncaught errors. */
  errors: string[];
}

/** One row of a transcript as it stands in the document. */
export interface SeenRow {
  /** First word of its turn's heading: the attack's id. */
  attack: string;
  index: number;
  kind: string;
  /** Text of the row, but for what the page adds beside links. */
  text: string;
  /** Text of the tool's output alone. */
  output: string;
  /** Hosts that stand beside links and images. */
  hosts: string[];
  /** Labels of what was marked as hidden. */
  marks: string[];
  links: { href: string; words: string }[];
  /** Elements and attributes that could run, load or lead somewhere by themselves. */
  dangers: string[];
  /** Control bytes and other characters that must never stand in the document. */
  controls: number;
}

/**
 * Comes before every script of the page: counts what must not happen. Answers a message `rendered` on a socket of the page
 * with the same, once the page has rendered what came before it.
 */
export function installWitness(rendered: string): void {
  const witnessed = { executed: [], opened: [], violations: [], errors: [] } as Record<string, string[]>;
  const note = (kind: string, what: unknown): void => {
    witnessed[kind]?.push(String(what));
    if (window.parent !== window) window.parent.postMessage({ witness: kind, what: String(what) }, "*");
  };
  Object.assign(window, {
    __witnessed: witnessed,
    __x: (what: unknown) => note("executed", `__x(${what})`),
  });
  for (const name of ["alert", "confirm", "prompt", "print"] as const)
    Object.defineProperty(window, name, { value: () => note("executed", name) });
  window.open = (url) => {
    note("opened", url);
    return null;
  };
  window.WebSocket = class extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      this.addEventListener("message", (event) => {
        if (event.data !== rendered) return;
        event.stopImmediatePropagation();
        // The page renders in a frame that it asked for before.
        requestAnimationFrame(() => this.send(rendered));
      });
    }
  };
  document.addEventListener("securitypolicyviolation", (event) => {
    // The witness's own try, and the icon that WebKit now and then asks for by itself, though the page has one.
    if (!event.sourceFile.endsWith("/__witness.js") && !event.blockedURI.endsWith("/favicon.ico"))
      note(
        "violations",
        `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`,
      );
  });
  let evaluates = false;
  try {
    evaluates = new Function("return true")() === true;
  } catch {
    // The policy holds.
  }
  Object.assign(window, { __evaluates: evaluates });
  window.addEventListener("error", (event) => {
    // A notice, not an error: what was observed changed once more within a frame.
    if (!event.message.startsWith("ResizeObserver loop")) note("errors", event.message);
  });
  window.addEventListener("unhandledrejection", (event) => note("errors", event.reason));
}

/** Whether this page's own scripts may run a string: no policy stands in the way. */
export function evaluates(): boolean {
  return Reflect.get(window, "__evaluates") === true;
}

/**
 * Scrolls through a transcript and tells what stands in it. `click`: afterwards points at, focuses and clicks everything that
 * can be clicked, once, and what appears by that too. Links that say that they open another site are not followed.
 */
export async function walk({ click }: { click: boolean }): Promise<SeenRow[]> {
  const region = document.querySelector('[role="region"][aria-label="Transcript"]');
  if (!(region instanceof HTMLElement)) throw new Error("no transcript");
  const frame = (): Promise<unknown> =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 600; round++) {
      await frame();
      if (region.querySelector(".turn-heading") && !region.querySelector(".placeholder")) return;
    }
    throw new Error("the transcript does not settle");
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  const NAMES =
    /^(?:script|iframe|object|embed|link|meta|base|style|form|video|audio|source|track|svg|math|frame|portal|picture|marquee)$/i;

  const dangersIn = (root: Element): string[] => {
    const found: string[] = [];
    for (const element of root.querySelectorAll("*")) {
      const name = element.tagName;
      if (NAMES.test(name)) found.push(name);
      for (const { name: attribute, value } of element.attributes) {
        if (/^on/i.test(attribute)) found.push(`${name} ${attribute}`);
        if (
          /^(?:src|srcset|background|poster|data|action|formaction|xlink:href|ping|srcdoc)$/i.test(
            attribute,
          ) &&
          !value.startsWith("blob:")
        )
          found.push(`${name} ${attribute}=${value}`);
        if (attribute === "style" && /url\(/i.test(value)) found.push(`${name} style=${value}`);
      }
      if (element instanceof HTMLAnchorElement) {
        const href = element.getAttribute("href") ?? "";
        const isOwn = href.startsWith("#") || href.startsWith("/session/");
        const leaves = /^(?:https?:|mailto:)/i.test(href);
        const isFile = href.startsWith("blob:") && element.hasAttribute("download");
        if (!isOwn && !leaves && !isFile) found.push(`A href=${href}`);
        if (leaves && (element.rel !== "noopener noreferrer" || element.target !== "_blank"))
          found.push(`A rel=${element.rel} target=${element.target}`);
      }
    }
    return found;
  };

  const read = (row: HTMLElement): SeenRow => {
    const body = row.querySelector(".part-body") ?? row;
    const copy = body.cloneNode(true) as Element;
    for (const added of copy.querySelectorAll(".link-host, .link-target")) added.remove();
    const heading = row.closest(".turn-place")?.querySelector(".turn-title")?.textContent ?? "";
    return {
      attack: heading.trim().split(/\s/, 1)[0] ?? "",
      index: Number(row.dataset.index),
      kind: (row.querySelector(".part-kind") ?? row).textContent ?? "",
      text: copy.textContent ?? "",
      output: Array.from(copy.querySelectorAll(".output-lines"), (lines) => lines.textContent).join(""),
      hosts: Array.from(body.querySelectorAll(".link-host"), (host) => host.textContent ?? ""),
      marks: Array.from(copy.querySelectorAll(".hidden-text"), (mark) => mark.textContent ?? ""),
      links: Array.from(body.querySelectorAll("a"), (link) => ({
        href: link.getAttribute("href") ?? "",
        words: link.textContent ?? "",
      })),
      dangers: dangersIn(row),
      controls: (row.textContent?.match(CONTROL) ?? []).length,
    };
  };

  // What else there is has no handler of its own, or `dangersIn` finds it.
  const CONTROLS = "a, button, summary, input, [tabindex]";
  const POINTED = `${CONTROLS}, img, mark, [title], [role]`;
  const clicked = new WeakSet<Element>();
  /**
   * Points at, focuses and clicks everything in some rows, as one task each: what React makes of a hundred clicks costs one
   * layout then, not a hundred. `closers`: what would close something that is open.
   */
  const clickIn = async (roots: readonly HTMLElement[], closers: boolean): Promise<void> => {
    // What a click brings up is clicked too; a toggle is clicked once and stays as it is.
    for (let round = 0; round < 4; round++) {
      const targets = roots.flatMap((root) =>
        [...root.querySelectorAll<HTMLElement>(POINTED)].filter(
          (element) =>
            !clicked.has(element) &&
            element.matches("details[open] > summary, [aria-expanded=true]") === closers,
        ),
      );
      if (targets.length === 0) return;
      const controls = targets.filter((element) => element.matches(CONTROLS));
      for (const element of targets) {
        clicked.add(element);
        for (const type of ["pointerenter", "mouseenter", "mouseover", "pointerdown", "mousedown"])
          element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window }));
      }
      for (const element of controls) element.focus({ preventScroll: true });
      for (const element of controls) if (element.isConnected) element.click();
      await new Promise((resolve) => setTimeout(resolve));
      // The record of a part comes from the daemon.
      for (let wait = 0; wait < 1_000 && roots.some(isReading); wait++)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const isReading = (root: HTMLElement): boolean =>
    root.isConnected &&
    Array.from(root.querySelectorAll(".raw-view > .note"), (note) => note.textContent).includes(
      "Reading the record…",
    );
  const hold = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href") ?? "";
    const leaves = /^(?:https?:|mailto:)/i.test(href) && link?.target === "_blank";
    const isFile = href.startsWith("blob:") && link?.hasAttribute("download");
    const isPlace = href.startsWith("/session/") && link?.classList.contains("action");
    if (leaves || isFile || isPlace) event.preventDefault();
  };
  if (click) document.addEventListener("click", hold, { capture: true });

  const GROUP = 6;
  const rows = new Map<number, SeenRow>();
  const pushed = new Set<number>();
  region.scrollTo(0, 0);
  // Rows become higher when they are measured: the end is where it still is some frames later.
  for (let atEnd = 0; atEnd < 5; ) {
    await settled();
    const fresh = [...region.querySelectorAll<HTMLElement>("article[data-index]")].filter(
      (row) => !rows.has(Number(row.dataset.index)),
    );
    const headings = [...region.querySelectorAll<HTMLElement>(".turn-heading")];
    // A few rows at a time: what is clicked stays where it is, and may push others out of the view, which are looked at
    // again, each alone, when they are back.
    for (let at = 0; at < fresh.length; ) {
      const first = fresh[at];
      const alone = first !== undefined && pushed.has(Number(first.dataset.index));
      const group = fresh.slice(at, at + (click && !alone ? GROUP : 1));
      at += group.length;
      if (group.some((row) => !row.isConnected)) break;
      if (click) await clickIn(group, false);
      for (const row of group) {
        const index = Number(row.dataset.index);
        if (row.isConnected || alone) {
          rows.set(index, read(row));
          pushed.delete(index);
        } else pushed.add(index);
      }
      if (click) await clickIn(group, true);
    }
    if (click) await clickIn(headings, false);
    await frame();
    for (const row of region.querySelectorAll("article")) {
      const dangers = dangersIn(row);
      if (dangers.length > 0) throw new Error(`a row holds ${dangers.join(", ")}`);
    }
    for (const heading of headings) {
      const dangers = dangersIn(heading);
      if (dangers.length > 0) throw new Error(`a heading holds ${dangers.join(", ")}`);
    }
    // On from the last row that was seen, wherever clicks have moved it; back to what was pushed out upwards.
    const present = [...region.querySelectorAll<HTMLElement>("article[data-index]")];
    const before = region.scrollTop;
    if (present[0] !== undefined && Math.min(...pushed) < Number(present[0].dataset.index)) {
      region.scrollTo(0, before - region.clientHeight / 2);
      await frame();
      continue;
    }
    const last = present.findLast((row) => rows.has(Number(row.dataset.index)));
    const below =
      last === undefined ? 0 : last.getBoundingClientRect().top - region.getBoundingClientRect().top;
    region.scrollTo(0, before + Math.max(below - 200, fresh.length === 0 ? region.clientHeight / 2 : 0));
    await frame();
    atEnd = fresh.length === 0 && region.scrollTop <= before + 1 ? atEnd + 1 : 0;
  }
  if (pushed.size > 0) throw new Error(`rows that were never read: ${[...pushed].join(", ")}`);
  document.removeEventListener("click", hold, { capture: true });
  return [...rows.values()];
}

/** The sessions on screen in a list of them, with the control characters in their rows; scrolls on to the next ones. */
export async function titlesOnPage(): Promise<{ href: string; controls: number }[]> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  const list = document.querySelector("main");
  const rows = Array.from(document.querySelectorAll("main a[href^='/session/']"), (link) => ({
    href: link.getAttribute("href") ?? "",
    controls: (link.closest("li")?.textContent?.match(CONTROL) ?? []).length,
  }));
  if (list !== null) {
    const before = list.scrollTop;
    list.scrollTo(0, before + list.clientHeight * 0.7);
    if (list.scrollTop === before) list.scrollTo(0, 0);
  }
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return rows;
}
