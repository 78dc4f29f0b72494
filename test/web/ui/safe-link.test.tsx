import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { FragmentLink, RemoteImage, SafeLink } from "../../../src/web/ui/SafeLink.tsx";

/** The rendered page as HTML. */
const html = (element: React.ReactNode): string => {
  const { container, unmount } = render(element);
  const { innerHTML } = container;
  unmount();
  return innerHTML;
};
const link = (href: string, text: string) =>
  html(
    <SafeLink href={href} text={text}>
      {text}
    </SafeLink>,
  );

describe("a link", () => {
  it("opens in a new tab, sends no referrer, and shows its host", () => {
    expect(link("https://a.test/x?y", "words")).toBe(
      '<a href="https://a.test/x?y" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" title="https://a.test/x?y">words</a><span class="link-host">a.test</span>',
    );
  });

  it("does not repeat a host that its text names, in any case", () => {
    expect(link("https://a.test/x", "see A.TEST/x")).not.toContain("link-host");
    expect(link("https://a.test/x", "see b")).toContain("link-host");
  });

  it("shows its host if its text contains it only inside another name", () => {
    expect(link("https://a.test/x", "not-a.test/x")).toContain('<span class="link-host">a.test</span>');
    expect(link("https://a.test/x", "b.a.test")).toContain('<span class="link-host">a.test</span>');
  });

  it("shows 2,000 characters of a long address, and asks before it is opened", () => {
    expect(link(`https://a.test/${"x".repeat(3_000)}`, "words")).toContain("the address is very long");
    expect(link(`javascript:${"x".repeat(3_000)}`, "words")).toContain(
      `title="Not a link: javascript:${"x".repeat(1_989)}…"`,
    );
  });

  it("inside a link is text", () => {
    expect(
      html(
        <SafeLink href="https://a.test/" text="a.test">
          <SafeLink href="https://b.test/" text="inner">
            inner
          </SafeLink>
        </SafeLink>,
      ),
    ).toBe(
      '<a href="https://a.test/" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" title="https://a.test/"><span>inner</span></a>',
    );
  });

  it("with a forbidden address is text that says so, with hidden characters marked", () => {
    expect(link("javascript:x()", "click")).toBe(
      '<span class="blocked-link" title="Not a link: javascript:x()">click</span>',
    );
    expect(link("javascript:\u202ex", "click")).toContain("U+202E");
  });

  it("that changes is classified again", () => {
    const { container, rerender } = render(
      <SafeLink href="vbscript:x()" text="a">
        a
      </SafeLink>,
    );
    expect(container.querySelector("a")).toBeNull();
    rerender(
      <SafeLink href="https://a.test/" text="a">
        a
      </SafeLink>,
    );
    expect(container.querySelector("a")?.getAttribute("href")).toBe("https://a.test/");
  });
});

describe("a link that misleads", () => {
  it("asks first: a click shows its target, and the next one hides it", () => {
    const { container } = render(
      <SafeLink href="https://evil.test/x" text="https://good.test">
        https://good.test
      </SafeLink>,
    );
    const button = screen.getByRole("button", { name: "https://good.test" });
    expect(container.querySelector("a")).toBeNull();
    expect(button.outerHTML).toBe(
      '<button type="button" class="link-button" aria-expanded="false" title="link text shows a different host">https://good.test</button>',
    );
    expect(container.querySelector(".asked-link > .link-host")?.textContent).toBe("evil.test");
    fireEvent.click(button);
    expect(button.getAttribute("aria-expanded")).toBe("true");
    const target = container.querySelector(".link-target");
    expect(target?.textContent).toBe("link text shows a different host: https://evil.test/x");
    expect(target?.querySelector("a")?.getAttribute("href")).toBe("https://evil.test/x");
    fireEvent.click(button);
    expect(container.querySelector(".link-target")).toBeNull();
  });

  it("also asks if only its address is suspicious", () => {
    const { container } = render(
      <SafeLink href="https://user:secret@evil.test/" text="words">
        words
      </SafeLink>,
    );
    expect(container.querySelector("a")).toBeNull();
    expect(container.querySelector(".link-host")?.textContent).toBe("evil.test");
  });

  it("masks secrets of its address in its text, title and target; opening it uses the full address", () => {
    const address = "https://a.test/?token=abcdef123456";
    const { container } = render(
      <SafeLink href={address} text={address}>
        {address}
      </SafeLink>,
    );
    const masked = "https://a.test/?token=•••(12 characters)";
    fireEvent.click(screen.getByRole("button", { name: masked }));
    const anchor = screen.getByRole("link", { name: masked });
    expect(anchor.getAttribute("href")).toBe(address);
    expect(anchor.title).toBe(masked);
    expect(container.textContent).not.toContain("abcdef");
    expect(container.querySelector(".link-target")?.textContent).toBe(
      `it contains what looks like a token: ${masked}`,
    );
    expect(html(<RemoteImage src={address} alt="" />)).not.toContain("abcdef");
  });

  it("also asks if its text names another host after thousands of blanks", () => {
    const asked = link("https://evil.test/x", `${" ".repeat(2_100)}https://good.test`);
    expect(asked).toContain('<button type="button" class="link-button"');
    expect(asked).toContain('title="its text is very long"');
    expect(asked).toContain('<span class="link-host">evil.test</span>');
  });

  it("contains no other link", () => {
    const { container } = render(
      <SafeLink href="https://evil.test/x" text="https://good.test">
        <SafeLink href="https://b.test/" text="inner">
          inner
        </SafeLink>
      </SafeLink>,
    );
    expect(container.querySelector("button")?.innerHTML).toBe("<span>inner</span>");
  });
});

describe("an address with letters that only look Latin", () => {
  // The first letter of the second word is Cyrillic.
  const odd = "p\u0430ypal";

  it("is marked if it is not a link, and if it is an image's", () => {
    expect(link(`javascript:${odd}`, "click")).toContain("U+0430");
    const { container } = render(<RemoteImage src={`data:,${odd}`} alt={odd} />);
    // A description is prose, which may be in any script.
    expect(container.querySelectorAll("mark")).toHaveLength(0);
    fireEvent.click(screen.getByRole("button"));
    expect(container.querySelector(".link-target mark")?.textContent).toContain("U+0430");
  });
});

describe("a link within the text", () => {
  it("scrolls to its target and focuses it, without changing the page's address", () => {
    const scrolled = vi.fn();
    const focused = vi.fn();
    const { container } = render(
      <>
        <FragmentLink target="a%20b" className="mine">
          go
        </FragmentLink>
        <p id="a b">there</p>
      </>,
    );
    const target = container.querySelector("p");
    if (target) Object.assign(target, { scrollIntoView: scrolled, focus: focused });
    const anchor = screen.getByRole("link", { name: "go" });
    expect(anchor.outerHTML).toBe('<a class="mine" href="#a%20b">go</a>');
    expect(fireEvent.click(anchor)).toBe(false);
    expect(scrolled.mock.calls).toEqual([[{ block: "center" }]]);
    expect(focused.mock.calls).toEqual([[{ preventScroll: true }]]);
  });

  it("without a target, or with an unreadable one, does nothing", () => {
    const { container } = render(
      <>
        <FragmentLink target="nowhere">go</FragmentLink>
        <FragmentLink target="100%">odd</FragmentLink>
        <p id="100%">there</p>
      </>,
    );
    const scrolled = vi.fn();
    const target = container.querySelector("p");
    if (target) Object.assign(target, { scrollIntoView: scrolled });
    expect(fireEvent.click(screen.getByRole("link", { name: "go" }))).toBe(false);
    fireEvent.click(screen.getByRole("link", { name: "odd" }));
    expect(scrolled).toHaveBeenCalledTimes(1);
  });

  it("is created for an address of a place in the text", () => {
    expect(link("#place", "words")).toBe('<a href="#place">words</a>');
  });
});

describe("an image of another host", () => {
  const image = (src: string, alt: string) => html(<RemoteImage src={src} alt={alt} />);

  it("is text with its location, and is not loaded", () => {
    expect(image("https://a.test/x.png", "a cat")).toBe(
      '<span class="remote-image"><button type="button" class="link-button" aria-expanded="false" title="Not loaded. Shows the address."><span class="remote-image-kind">image</span> a cat <span class="link-host">a.test</span></button></span>',
    );
    expect(image("https://user:p@a.test/x.png", "")).toContain(
      'without description <span class="link-host">a.test</span>',
    );
    expect(image("data:image/png;base64,AA", "x")).toContain('<span class="link-host">embedded</span>');
    expect(image("nonsense", "x")).toContain('<span class="link-host">no address</span>');
  });

  it("shows its address on a click: as a link if it is one, otherwise as truncated text", () => {
    const clicked = (src: string) => {
      const { container, unmount } = render(<RemoteImage src={src} alt="x" />);
      const button = screen.getByRole("button");
      fireEvent.click(button);
      const target = container.querySelector(".link-target")?.innerHTML;
      expect(button.getAttribute("aria-expanded")).toBe("true");
      fireEvent.click(button);
      expect(container.querySelector(".link-target")).toBeNull();
      unmount();
      return target;
    };
    expect(clicked("https://a.test/x.png")).toBe(
      '<a href="https://a.test/x.png" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" title="https://a.test/x.png">https://a.test/x.png</a>',
    );
    expect(clicked("https://user:p@a.test/x.png")).toContain('<a href="https://user:p@a.test/x.png"');
    expect(clicked(`data:,${"x".repeat(1_994)}`)).toBe(`data:,${"x".repeat(1_994)}`);
    expect(clicked(`data:,${"x".repeat(1_995)}`)).toBe(`data:,${"x".repeat(1_994)}…`);
  });

  it("inside a link has no button", () => {
    expect(
      html(
        <SafeLink href="https://a.test/" text="a.test">
          <RemoteImage src="https://b.test/x.png" alt="cat" />
        </SafeLink>,
      ),
    ).toContain(
      '<span class="remote-image"><span class="remote-image-kind">image</span> cat <span class="link-host">b.test</span></span></a>',
    );
  });
});
