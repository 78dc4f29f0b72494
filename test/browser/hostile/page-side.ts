/**
 * Functions that run inside the page under test, in any browser. Each is sent as its source, so it must not use anything else
 * from this file. They check the resulting document, not how the product created it.
 */

/** Events in a page so far that no text must cause. */
export interface Witnessed {
  /** Calls of the canary and of dialogs. */
  executed: string[];
  /** Windows that were opened, except by a link that announces it. */
  opened: string[];
  /** Policy violations, which show attempts. */
  violations: string[];
  /** Uncaught errors. */
  errors: string[];
}

/** One row of a transcript in the document. */
export interface SeenRow {
  /** First word of its turn's heading: the attack's id. */
  attack: string;
  index: number;
  kind: string;
  /** Text of the row, without the page's additions to links. */
  text: string;
  /** Text of only the tool's output. */
  output: string;
  /** Hosts that are shown beside links and images. */
  hosts: string[];
  /** Labels of the marks for hidden characters. */
  marks: string[];
  links: { href: string; words: string }[];
  /** Elements and attributes that could run, load or navigate by themselves. */
  dangers: string[];
  /** Control bytes and other characters that must never be in the document. */
  controls: number;
}

/**
 * Runs before every script of the page and records forbidden events. Answers a message `rendered` on the page's socket with the
 * same message once the page has rendered everything before it.
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
        // The page renders in an animation frame that it requested before.
        requestAnimationFrame(() => this.send(rendered));
      });
    }
  };
  document.addEventListener("securitypolicyviolation", (event) => {
    // The witness's own attempt, and the icon that WebKit sometimes requests by itself although the page has one.
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
    // The policy applies.
  }
  Object.assign(window, { __evaluates: evaluates });
  window.addEventListener("error", (event) => {
    // A notice, not an error: an observed element changed again within a frame.
    if (!event.message.startsWith("ResizeObserver loop")) note("errors", event.message);
  });
  window.addEventListener("unhandledrejection", (event) => note("errors", event.reason));
}

/** Whether the page's own scripts can evaluate a string, that is, no policy forbids it. */
export function evaluates(): boolean {
  return Reflect.get(window, "__evaluates") === true;
}

/**
 * Scrolls through a transcript and returns its content. `click`: also hovers, focuses and clicks every control once, including
 * those that appear through this. Links that announce another site are not followed.
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
    const heading = row.closest(".scroller-turn")?.querySelector(".turn-title")?.textContent ?? "";
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

  // Other elements have no handlers of their own, or `dangersIn` finds them.
  const CONTROLS = "a, button, summary, input, [tabindex]";
  const POINTED = `${CONTROLS}, img, mark, [title], [role]`;
  const clicked = new WeakSet<Element>();
  /**
   * Hovers, focuses and clicks everything in some rows, one task per kind of event, so that a hundred clicks cost one layout
   * instead of a hundred. `closers`: controls that would close something open.
   */
  const clickIn = async (roots: readonly HTMLElement[], closers: boolean): Promise<void> => {
    // Controls that a click reveals are clicked too; a toggle is clicked once and keeps its new state.
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
  // A session opens at its end: what is scrolled before that does not stay.
  await settled();
  do {
    region.scrollTo(0, 0);
    await settled();
  } while (region.scrollTop > 0);
  // Rows become higher when they are measured, so the end is reached if it is the same some frames later.
  for (let atEnd = 0; atEnd < 5; ) {
    await settled();
    const fresh = [...region.querySelectorAll<HTMLElement>("article[data-index]")].filter(
      (row) => !rows.has(Number(row.dataset.index)),
    );
    const headings = [...region.querySelectorAll<HTMLElement>(".turn-heading")];
    // A few rows at a time: clicked rows stay in place and may push others out of view; those are visited again one by one when
    // they are back.
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
    // Continue after the last visited row, wherever clicks have moved it; go back to rows that were pushed out upwards.
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

/** The sessions of a list that are on screen, with the control characters in their rows; then scrolls to the next ones. */
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
