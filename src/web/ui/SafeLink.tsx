import { type ComponentProps, createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import { visible } from "./hidden-text.tsx";
import { claimsOtherHost, judgeUrl, type Verdict } from "./safe-url.ts";

const InsideLink = createContext(false);

function ExternalAnchor({ href, children }: { href: string; children: ReactNode }): ReactNode {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      referrerPolicy="no-referrer"
      title={visibleText(href, "name")}
    >
      {children}
    </a>
  );
}

/** A link that shows where it goes only when asked, and opens nothing by itself. */
function AskedLink({
  verdict,
  children,
}: {
  verdict: Verdict & { kind: "confirm" };
  children: ReactNode;
}): ReactNode {
  const [asked, setAsked] = useState(false);
  return (
    <span className="asked-link">
      <button
        type="button"
        className="link-button"
        aria-expanded={asked}
        title={verdict.reason}
        onClick={() => setAsked(!asked)}
      >
        {children}
      </button>
      <span className="link-host">{visible(verdict.host, "name")}</span>
      {asked && (
        <span className="link-target">
          {verdict.reason}:{" "}
          <ExternalAnchor href={verdict.href}>{visible(verdict.href, "name")}</ExternalAnchor>
        </span>
      )}
    </span>
  );
}

/**
 * A link to an address that somebody else wrote. http, https and mailto open in a new tab, without a referrer; the real
 * host stands beside words that do not name it; a misleading address asks first; anything else is text.
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
  const judged = useMemo(() => judgeUrl(href), [href]);
  if (nested) return <span>{children}</span>;
  const verdict: Verdict =
    judged.kind === "link" && claimsOtherHost(text, judged.host)
      ? { ...judged, kind: "confirm", reason: "its words name another host" }
      : judged;
  const inner = <InsideLink value={true}>{children}</InsideLink>;
  switch (verdict.kind) {
    case "text":
      return (
        <span className="blocked-link" title={`Not a link: ${visibleText(href, "name")}`}>
          {inner}
        </span>
      );
    case "fragment":
      return <FragmentLink target={verdict.id}>{inner}</FragmentLink>;
    case "confirm":
      return <AskedLink verdict={verdict}>{inner}</AskedLink>;
    case "link": {
      const named = text.toLowerCase().includes(verdict.host.toLowerCase());
      return (
        <>
          <ExternalAnchor href={verdict.href}>{inner}</ExternalAnchor>
          {!named && <span className="link-host">{visible(verdict.host, "name")}</span>}
        </>
      );
    }
    default:
      return verdict satisfies never;
  }
}

/** A link within the text, as footnotes have: it scrolls, and leaves the page's own address alone. */
export function FragmentLink({
  target: id,
  children,
  ...rest
}: Omit<ComponentProps<"a">, "href" | "target"> & {
  /** The id of the element that it leads to. */
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

/** Stands where an image of another host would: it is never fetched, its address is one click away. */
export function RemoteImage({ src, alt }: { src: string; alt: string }): ReactNode {
  const nested = useContext(InsideLink);
  const [asked, setAsked] = useState(false);
  const verdict = judgeUrl(src);
  const place =
    verdict.kind === "link" || verdict.kind === "confirm"
      ? verdict.host
      : src.startsWith("data:")
        ? "embedded"
        : "no address";
  const words = (
    <>
      <span className="remote-image-kind">image</span> {visible(alt || "without description", "prose")}{" "}
      <span className="link-host">{visible(place, "name")}</span>
    </>
  );
  if (nested) return <span className="remote-image">{words}</span>;
  return (
    <span className="remote-image">
      <button
        type="button"
        className="link-button"
        aria-expanded={asked}
        title="Not loaded. Shows the address."
        onClick={() => setAsked(!asked)}
      >
        {words}
      </button>
      {asked && (
        <span className="link-target">
          {verdict.kind === "link" || verdict.kind === "confirm" ? (
            <ExternalAnchor href={verdict.href}>{visible(verdict.href, "name")}</ExternalAnchor>
          ) : (
            visible(src.length > 2_000 ? `${src.slice(0, 2_000)}…` : src, "name")
          )}
        </span>
      )}
    </span>
  );
}
