import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import type { Payload } from "./payloads.ts";
import { textOf } from "./payloads.ts";

/**
 * Two renderers that trust everything, one for Markdown and one for HTML. The harness must see attacks fire there, otherwise it
 * detects nothing. Each attack is in a separate document, in a frame of one page; remote addresses contain the attack's number,
 * so that a request identifies it.
 */
export function unsafePages(
  attacks: readonly Payload[],
): (url: URL) => { type: string; body: string } | undefined {
  return (url) => {
    if (url.hostname !== UNSAFE_HOST) return undefined;
    const [, n] = /^\/frame\/(\d+)\/$/.exec(url.pathname) ?? [];
    const attack = n === undefined ? undefined : attacks[Number(n)];
    if (attack !== undefined)
      return { type: "text/html; charset=utf-8", body: unsafeDocument(attack, Number(n)) };
    if (url.pathname !== "/control") return undefined;
    const frames = attacks.map(
      (_attack, index) => `<iframe name="${index}" src="/frame/${index}/"></iframe>`,
    );
    return { type: "text/html; charset=utf-8", body: `<!doctype html>${CONTROL_SCRIPT}${frames.join("")}` };
  };
}

export const UNSAFE_HOST = "unsafe.test";

function unsafeDocument({ input }: Payload, n: number): string {
  const attack = textOf(input).replaceAll(
    /(?<![\w-])(canary|\uff43anary)(?=\.|&period;|%2E|\u3002|:|\/|$)/gi,
    `p${n}.$1`,
  );
  const html = micromark(attack, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  // GFM's tag filter is a protection, which the control must not have.
  return `<!doctype html><title>t</title><main>${html.replaceAll(/&lt;(?=\/?(?:iframe|noembed|noframes|plaintext|script|style|textarea|title|xmp)\b)/gi, "<")}</main><aside>${attack}</aside>`;
}

/** Collects the reports of its frames, and which of them navigated away. */
const CONTROL_SCRIPT = `<script>
window.__fired = {};
window.__loads = {};
const mark = (n, what) => { (window.__fired[n] ??= []).push(what); };
addEventListener("message", (event) => {
  for (const frame of document.querySelectorAll("iframe"))
    if (frame.contentWindow === event.source && event.data?.witness === "executed") mark(frame.name, event.data.what);
});
document.addEventListener("load", (event) => {
  if (event.target instanceof HTMLIFrameElement) {
    const n = event.target.name;
    window.__loads[n] = (window.__loads[n] ?? 0) + 1;
    if (window.__loads[n] > 1) mark(n, "went elsewhere");
  }
}, true);
</script>`;

/** In the control's page: clicks everything in every frame. */
export function clickFrames(): void {
  for (const frame of document.querySelectorAll("iframe")) {
    try {
      for (const element of frame.contentDocument?.querySelectorAll("*") ?? []) {
        for (const type of ["mouseover", "mouseenter", "pointerenter"])
          element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
        if ("focus" in element && typeof element.focus === "function") element.focus();
        element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      }
    } catch {
      // It has already navigated away.
    }
  }
}

/** In the control's page: the fired attacks, by number. */
export function firedFrames(): Record<string, string[]> {
  const fired: unknown = Reflect.get(window, "__fired");
  return fired as Record<string, string[]>;
}
