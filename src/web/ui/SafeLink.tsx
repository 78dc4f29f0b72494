import { type ComponentProps, createContext, type ReactNode, useContext, useState } from "react";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { t } from "../text/text.ts";
import { visible } from "./hidden-text.tsx";
import { hostText, judgeUrl, type Verdict } from "./safe-url.ts";
import { maskSecrets } from "./url-secrets.ts";
import "./links.css";

const InsideLink = createContext(false);

/** Maximum number of characters of an address in the tooltip. */
const MAX_TITLE = 2_000;
const titleOf = (address: string): string =>
  visibleText(address.length > MAX_TITLE ? `${cutShort(address, MAX_TITLE)}…` : address, "name");

/** Size of the cache of checked addresses. It exists because thousands of links may share one address. */
const CACHE_SIZE = 200;
const cache = new Map<string, { urlVerdict: Verdict; title: string }>();

function verdictOf(address: string): { urlVerdict: Verdict; title: string } {
  const before = cache.get(address);
  if (before !== undefined) return before;
  const found = { urlVerdict: judgeUrl(address), title: titleOf(address) };
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(address, found);
  return found;
}

function ExternalAnchor({
  href,
  shown = href,
  children,
}: {
  href: string;
  /** The address for display, with masked secrets. */
  shown?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      referrerPolicy="no-referrer"
      title={titleOf(shown)}
    >
      {children}
    </a>
  );
}

/** A button in place of a link. It shows the address, which the user must click to open it. */
function ConfirmedLink({
  verdict,
  children,
}: {
  verdict: Verdict & { kind: "confirm" };
  children: ReactNode;
}): ReactNode {
  const [isShown, setIsShown] = useState(false);
  const shown = shownAddress(verdict);
  return (
    <span className="asked-link">
      <button
        type="button"
        className="link-button"
        aria-expanded={isShown}
        title={verdict.reason}
        onClick={() => setIsShown(!isShown)}
      >
        {children}
      </button>
      <span className="link-host">{visible(verdict.host, "name")}</span>
      {isShown && (
        <span className="link-target">
          {verdict.reason}:{" "}
          <ExternalAnchor href={verdict.href} shown={shown}>
            {visible(shown, "name")}
          </ExternalAnchor>
        </span>
      )}
    </span>
  );
}

/** The address for display, with masked secrets. */
function shownAddress(verdict: Verdict & { kind: "link" | "confirm" }): string {
  const { href } = verdict;
  return verdict.kind === "confirm" && verdict.secrets !== undefined
    ? maskSecrets(href, verdict.secrets)
    : href;
}

/**
 * A link to an untrusted address. http, https and mailto addresses open in a new tab, without a referrer. The real host is shown
 * if the text does not name it. Addresses that are misleading, contain secrets, or refer to a machine's own services need a
 * confirmation. All other addresses are plain text. Secrets are masked, even in a text that repeats the address.
 */
export function SafeLink({
  href,
  text,
  children,
}: {
  href: string;
  text: string;
  children: ReactNode;
}): ReactNode {
  const nested = useContext(InsideLink);
  const { urlVerdict, title } = verdictOf(href);
  if (nested) return <span>{wordsOf(text, urlVerdict) ?? children}</span>;
  const comparison = urlVerdict.kind === "link" ? hostText(text, urlVerdict.host) : undefined;
  const reason = comparison === "other" ? t.link.otherHost : t.link.longText;
  const verdict: Verdict =
    urlVerdict.kind === "link" && (comparison === "other" || comparison === "long")
      ? { ...urlVerdict, kind: "confirm", reason }
      : urlVerdict;
  const words = wordsOf(text, verdict);
  const inner = (
    <InsideLink value={true}>{words === undefined ? children : visible(words, "prose")}</InsideLink>
  );
  switch (verdict.kind) {
    case "text":
      return (
        <span className="blocked-link" title={t.link.notLink(title)}>
          {inner}
        </span>
      );
    case "fragment":
      return <FragmentLink target={verdict.id}>{inner}</FragmentLink>;
    case "confirm":
      return <ConfirmedLink verdict={verdict}>{inner}</ConfirmedLink>;
    case "link":
      return (
        <>
          <ExternalAnchor href={verdict.href}>{inner}</ExternalAnchor>
          {comparison !== "same" && <span className="link-host">{visible(verdict.host, "name")}</span>}
        </>
      );
    default:
      return verdict satisfies never;
  }
}

/** The text of a link with the secrets of its address masked; `undefined`: the text contains none. */
function wordsOf(text: string, verdict: Verdict): string | undefined {
  if (verdict.kind !== "confirm" || verdict.secrets === undefined) return undefined;
  const masked = maskSecrets(text, verdict.secrets);
  return masked === text ? undefined : masked;
}

/** A link within a text, for footnotes. It scrolls without changing the page's address. */
export function FragmentLink({
  target: id,
  children,
  ...rest
}: Omit<ComponentProps<"a">, "href" | "target"> & {
  /** The id of the target element. */
  target: string;
}): ReactNode {
  return (
    <a
      {...rest}
      href={`#${id}`}
      onClick={(event) => {
        event.preventDefault();
        const target = document.getElementById(decodeFragment(id));
        target?.scrollIntoView({ block: "center" });
        target?.focus({ preventScroll: true });
      }}
    >
      {children}
    </a>
  );
}

function decodeFragment(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Placeholder for a remote image, which is never fetched. A click shows its address. */
export function RemoteImage({ src, alt }: { src: string; alt: string }): ReactNode {
  const nested = useContext(InsideLink);
  const [isShown, setIsShown] = useState(false);
  const { urlVerdict: verdict } = verdictOf(src);
  const place =
    verdict.kind === "link" || verdict.kind === "confirm"
      ? verdict.host
      : src.startsWith("data:")
        ? t.link.embedded
        : t.link.noAddress;
  const words = (
    <>
      <span className="remote-image-kind">{t.link.image}</span>{" "}
      {visible(alt || t.link.noDescription, "prose")}{" "}
      <span className="link-host">{visible(place, "name")}</span>
    </>
  );
  if (nested) return <span className="remote-image">{words}</span>;
  return (
    <span className="remote-image">
      <button
        type="button"
        className="link-button"
        aria-expanded={isShown}
        title={t.link.notLoaded}
        onClick={() => setIsShown(!isShown)}
      >
        {words}
      </button>
      {isShown && (
        <span className="link-target">
          {verdict.kind === "link" || verdict.kind === "confirm" ? (
            <ExternalAnchor href={verdict.href} shown={shownAddress(verdict)}>
              {visible(shownAddress(verdict), "name")}
            </ExternalAnchor>
          ) : (
            visible(src.length > MAX_TITLE ? `${cutShort(src, MAX_TITLE)}…` : src, "name")
          )}
        </span>
      )}
    </span>
  );
}
