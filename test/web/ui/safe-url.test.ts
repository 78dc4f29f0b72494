import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostText, judgeUrl } from "../../../src/web/ui/safe-url.ts";
import { maskSecrets, secretsIn } from "../../../src/web/ui/url-secrets.ts";

const reasonOf = (address: string): string => {
  const verdict = judgeUrl(address);
  return verdict.kind === "confirm" ? verdict.reason : verdict.kind;
};

describe("an address", () => {
  it.each([
    ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d", "example.com"],
    ["http://example.com:8080", "http://example.com:8080/", "example.com:8080"],
    ["HTTPS://EXAMPLE.com/A", "https://example.com/A", "example.com"],
    ["https://localhost/", "https://localhost/", "localhost"],
    ["http://%5B::1%5D:8080/", "http://[::1]:8080/", "[::1]:8080"],
    ["HTTPS://%5b2001:DB8::a%5d", "https://[2001:db8::a]/", "[2001:db8::a]"],
    ["https://www.example.com/", "https://www.example.com/", "www.example.com"],
    ["https://a.b.example.co.uk/x.com.txt", "https://a.b.example.co.uk/x.com.txt", "a.b.example.co.uk"],
    ["mailto:jo@example.com", "mailto:jo@example.com", "jo@example.com"],
    ["MAILTO:jo@example.com", "MAILTO:jo@example.com", "jo@example.com"],
  ])("that is unsuspicious is a link: %s", (address, href, host) => {
    expect(judgeUrl(address)).toEqual({ kind: "link", href, host });
  });

  it.each([
    "",
    "example.com",
    "/path",
    "./a",
    "?q",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " https://example.com",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.com/x",
    "xhttp://example.com",
    "x-http://example.com",
    "https",
    "https://",
    "https://exa mple.com",
    "https://a:99999/",
    "http:",
    "///example.com",
    "//\\example.com",
    "//",
    "a//example.com",
    "mailto:",
    "mailto:?subject=x",
    "mailto:jo@example.com\u200b",
    "mailto: jo@example.com",
    "mailto://:443",
    "xhttp://%5B::1%5D/",
    "http://%5Bexample%5D/",
    "http://%5B%5D/",
    "http:%5B::1%5D/",
  ])("that is not a plain http, https or mailto address is text: %j", (address) => {
    expect(judgeUrl(address)).toEqual({ kind: "text" });
  });

  it("that begins with a number sign is a place in the text", () => {
    expect(judgeUrl("#user-content-fn-1")).toEqual({ kind: "fragment", id: "user-content-fn-1" });
    expect(judgeUrl("#")).toEqual({ kind: "fragment", id: "" });
  });

  it.each([
    ["//example.com/x", "the address names no protocol"],
    ["mailto:jo@example.com?subject=Hi", "it fills in the message"],
    ["mailto:jo@example.com%0D%0Abcc:ada@example.com", "it fills in the message"],
    ["mailto:jo@example.com%0asubject:x", "it fills in the message"],
    ["mailto:jo%20o@example.com", "link"],
    ["https://example.com/\u202etxt.exe", "the address contains invisible characters"],
    ["https://example.com/a\u00adb", "the address contains invisible characters"],
    ["https://example.com/a\u205fb", "the address contains invisible characters"],
    [`https://example.com/${"a".repeat(1_980)}`, "link"],
    [`https://example.com/${"a".repeat(1_981)}`, "the address is very long"],
    [`https://${"a.".repeat(125)}com/`, "link"],
    [`https://${"a.".repeat(126)}com/`, "text"],
    [`mailto:jo@${"a".repeat(251)}`, "text"],
    ["https://example.com/a b", "the address contains invisible characters"],
    ["https://exam\tple.com/", "the address contains invisible characters"],
    ["https:example.com", "the address is written to mislead"],
    ["https:/example.com", "the address is written to mislead"],
    ["https:///example.com", "the address is written to mislead"],
    ["https:\\\\example.com", "the address is written to mislead"],
    ["https://example.com\\@evil.example", "the address is written to mislead"],
    ["https://github.com@evil.example/", "what precedes @ is not the host"],
    ["https://github.com:x@evil.example/", "what precedes @ is not the host"],
    ["https://:secret@evil.example/", "it contains a user name and password"],
    ["https://ada:hunter2@example.com/", "it contains a user name and password"],
    ["http://169.254.169.254/latest/meta-data/", "it leads to a cloud metadata service"],
    ["http://2852039166/", "it leads to a cloud metadata service"],
    ["http://0xA9.0xFE.0xA9.0xFE/", "it leads to a cloud metadata service"],
    ["http://0251.0376.0251.0376/", "it leads to a cloud metadata service"],
    ["http://[::ffff:169.254.169.254]/", "it leads to a cloud metadata service"],
    ["http://[64:ff9b::a9fe:a9fe]/", "it leads to a cloud metadata service"],
    ["http://[fd00:ec2::254]/latest/", "it leads to a cloud metadata service"],
    ["http://[FD00:0EC2:0:0:0:0:0:0254]/", "it leads to a cloud metadata service"],
    ["http://metadata.google.internal/computeMetadata/v1/", "it leads to a cloud metadata service"],
    ["http://METADATA.google.internal./", "it leads to a cloud metadata service"],
    ["http://metadata/", "it leads to a cloud metadata service"],
    ["http://100.100.100.200/", "it leads to a cloud metadata service"],
    ["http://ada:pw@169.254.170.2/v2/credentials", "it leads to a cloud metadata service"],
    ["http://169.254.10.20/", "it leads to a link-local address"],
    ["http://[fe80::1]/", "it leads to a link-local address"],
    ["http://169.254.169.254.nip.io/", "it leads to a link-local address"],
    ["http://169.253.1.1/", "link"],
    ["http://192.168.0.1/", "link"],
    ["https://example.com/?access_token=abcdef123456", "it contains what looks like a token"],
    ["https://example.com/?q=a&X-Amz-Signature=0123456789abcdef", "it contains what looks like a token"],
    ["https://example.com/cb#id_token=abc.def.ghi", "it contains what looks like a token"],
    ["https://example.com/ghp_0123456789abcdefghijABCDEFGHIJ012345", "it contains what looks like a token"],
    ["https://example.com/?v=sk-proj-abcdefghij0123456789", "it contains what looks like a token"],
    ["https://example.com/?code=4f1d0a92bc7e5d31", "it contains what looks like a token"],
    ["https://example.com/x?eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "it contains what looks like a token"],
    ["https://example.com/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldA", "it contains a long encoded value"],
    ["https://example.com/p?d=aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldA==", "it contains a long encoded value"],
    ["https://example.com/?d=68656c6c6f20776f726c6468656c6c6f20776f", "it contains a long encoded value"],
    ["https://mfrggzdfmztwq2lknnwg23tpobyxe43u.example.com/", "it contains a long encoded value"],
    ["https://github.com/o/r/commit/0123456789abcdef0123456789abcdef01234567", "link"],
    ["https://example.com/sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "link"],
    [
      "https://example.com/a/6ba7b810-9dad-11d1-80b4-00c04fd430c8?id=6ba7b810-9dad-11d1-80b4-00c04fd430c8",
      "link",
    ],
    ["https://example.com/2026/how-to-write-a-parser-for-json-lines-in-100-lines-of-code", "link"],
    [
      "https://ja.example.org/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E6%96%87%E6%B3%95%E3%81%AE%E6%AD%B4%E5%8F%B2",
      "link",
    ],
    ["https://example.com/ThisIsALongClassNameOfJavaThatDescribesItself.html", "link"],
    ["https://example.com/?key=value&code=404&state=open", "link"],
    ["https://example.com/?q=token+bucket", "link"],
    ["https://docs.rs/tokio/1.40.0/tokio/sync/struct.Semaphore.html#method.acquire_many_owned", "link"],
    ["https://example.com/a#L120-L160", "link"],
    ["https://аpple.example/", "the host has letters that may imitate others"],
    ["https://xn--80ak6aa92e.com/", "the host has letters that may imitate others"],
    ["https://www.xn--80ak6aa92e.com/", "the host has letters that may imitate others"],
    ["https://example.com./", "the host ends in a dot"],
    ["https://github.com.evil.example/", "the host begins like another one"],
    ["https://www.google.com-login.evil.example/", "link"],
    ["https://accounts.google.com.a.evil.example/", "the host begins like another one"],
    ["https://evil.example/github.com", "the path looks like a host"],
    ["https://evil.example/github.com/login", "the path looks like a host"],
    ["https://evil.example/a/github.com", "link"],
    ["https://evil.example/?next=https://other.example", "it passes on another address"],
    ["https://evil.example/?next=http%3a//other.example", "it passes on another address"],
    ["https://evil.example/?next=http://other.example", "it passes on another address"],
    [`https://evil.example/?d=${"a".repeat(77)}`, "link"],
    [`https://evil.example/?d=${"a".repeat(78)}`, "it carries a lot of data"],
    ["https://evil.example/?to=me@other.example", "it passes on another address"],
    ["https://evil.example/#@other.example", "it passes on another address"],
    [`https://evil.example/?d=${"a".repeat(90)}`, "it carries a lot of data"],
    [`https://evil.example/?d=${"a".repeat(70)}`, "link"],
    [`https://evil.example/?d=${"a.".repeat(60)}`, "link"],
    [`https://evil.example/${"a".repeat(200)}`, "link"],
  ])("that may mislead is confirmed first: %j", (address, reason) => {
    expect(reasonOf(address)).toBe(reason);
  });

  it("shows the host that is opened", () => {
    expect(judgeUrl("https://github.com@evil.example:81/x")).toMatchObject({
      host: "evil.example:81",
      href: "https://github.com@evil.example:81/x",
    });
    expect(judgeUrl("//example.com/x")).toMatchObject({ href: "https://example.com/x", host: "example.com" });
    expect(judgeUrl("mailto:jo@example.com?subject=Hi")).toMatchObject({ host: "jo@example.com" });
  });
});

describe("a secret in an address", () => {
  it.each([
    ["https://ada:hunter2@example.com/x", "https://•••(11 characters)@example.com/x"],
    ["https://example.com/?a=b&token=abcdef123456#c", "https://example.com/?a=b&token=•••(12 characters)#c"],
    [
      "https://example.com/ghp_0123456789abcdefghijABCDEFGHIJ012345/x",
      "https://example.com/ghp_•••(40 characters)/x",
    ],
    [
      "https://example.com/cb#access_token=abcdef123456&b=1",
      "https://example.com/cb#access_token=•••(12 characters)&b=1",
    ],
  ])("is masked: %s", (address, masked) => {
    const secrets = secretsIn(address);
    expect(secrets && maskSecrets(address, secrets)).toBe(masked);
  });

  it("is found in any address, and not in other text, without an error", () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.string(),
        (address, text) => {
          const secrets = secretsIn(address);
          if (secrets !== undefined)
            for (const secret of secrets.secrets) expect(maskSecrets(address, secrets)).not.toContain(secret);
          secretsIn(text);
        },
      ),
    );
  });
});

describe("the text of a link", () => {
  it.each([
    ["https://github.com/login", "evil.example"],
    ["github.com", "evil.example"],
    ["  github.com/login  ", "evil.example"],
    ["see https://github.com here", "evil.example"],
    ["(https://github.com) evil.io", "evil.io"],
    ["https://github.com/a/evil.io", "evil.io"],
    ["https://github.com@evil.io/", "evil.io"],
    ["https://node.js", "evil.example"],
    ["https://192.0.2.1/", "evil.example"],
    ["bank.example.org:443", "evil.example"],
    ["a.www.github.com", "a.github.com"],
    ["a.github.com", "a.www.github.com"],
    ["Sign in at paypal.com", "l.com"],
    ["paypal.com", "l.com"],
    ["sparkasse.de", "sse.de"],
    ["Open accounts.google.com", "ogle.com"],
    ["paypal.de/login?x=evil.de", "evil.de"],
    ["github.com, see evil.io", "evil.io"],
    ["evil.io, or github.com", "evil.io"],
    ["login/github.com evil.io", "evil.io"],
    ["github.com@evil.io", "evil.io"],
    ["paypal.com.br", "evil.example"],
    ["PAYPAL．COM", "evil.example"],
    ["paypal。com", "evil.example"],
    ["pay\u200bpal.com", "evil.example"],
    ["p\u0430ypal.com", "evil.example"],
    // Text in the form of a host is treated as one, even if it could be something else.
    ["PAYPAL.COM", "evil.example"],
    ["Paypal.Com", "evil.example"],
    ["asp.net", "evil.example"],
    ["www.ASP.NET", "evil.example"],
    ["login.Socket.IO", "evil.example"],
    ["https://ASP.NET/", "evil.example"],
    ["java.net", "evil.example"],
    ["com.io", "evil.example"],
    ["com.paypal.com", "evil.example"],
    ["com.paypal.net", "evil.example"],
    ["paypal.app", "evil.example"],
    // A package name that ends like a host may be a host.
    ["com.paypal.app", "evil.example"],
    ["com.paypal.dev", "evil.example"],
    ["org.apache.commons.io", "evil.example"],
  ])("%j claims another host than %s", (words, host) => {
    expect(hostText(words, host)).toBe("other");
  });

  it.each([
    ["GitHub.COM", "github.com"],
    ["see evil.example.", "evil.example"],
    ["https://evil.example/x/main.ts?y=github.com", "evil.example"],
    ["evil.example/x/main.ts", "evil.example"],
    ["http://localhost:3000/a", "localhost:3000"],
    ["http://[::1]:8080/", "[::1]:8080"],
    ["https://192.0.2.1", "192.0.2.1"],
    ["<https://evil.example>, that is", "evil.example"],
    ["jo@example.com", "jo@example.com"],
  ])("%j names %s and nothing else", (words, host) => {
    expect(hostText(words, host)).toBe("same");
  });

  it.each([
    ["www.github.com", "github.com"],
    ["github.com", "www.github.com"],
    ["github.com", "github.com:8080"],
    ["see main.rs", "evil.example"],
    ["ASP.NET Core docs", "learn.microsoft.com"],
    ["System.IO", "learn.microsoft.com"],
    ["Socket.IO", "evil.example"],
    ["com.paypal", "evil.example"],
    ["com.example.app.MainActivity", "github.com"],
    ["org.apache.commons.lang3", "evil.example"],
    ["README.md", "github.com"],
    ["node.js", "evil.example"],
    ["console.info", "evil.example"],
    ["click here", "evil.example"],
    ["", "evil.example"],
    ["version 1.2", "evil.example"],
    ["sse.design", "sse.de"],
    ["sse.de-x.zip", "sse.de"],
    ["notsse.io.zip", "sse.io"],
    ["main.ts of evil.example", "evil.example"],
    ["jo@example.com", "evil.example"],
    ["jo@evil.example", "evil.example"],
    [`${" ".repeat(1_986)}click here now`, "evil.example"],
  ])("%j names no host other than %s", (words, host) => {
    expect(hostText(words, host)).toBeUndefined();
  });

  it("is reported as long, whatever it contains, if it is too long to read", () => {
    for (const words of [
      `${" ".repeat(2_000)}github.com`,
      `evil.example${"\u200b".repeat(2_000)}`,
      `x${" \n".repeat(1_000)}https://github.com/login`,
      "x".repeat(1_000_000),
    ])
      expect(hostText(words, "evil.example")).toBe("long");
  });

  it("is checked quickly at any length", () => {
    const started = performance.now();
    for (const part of ["-", "a.", "a", "https://", "x@", "https://a.test/"]) {
      for (const length of [1_999, 100_000]) hostText(`${part.repeat(length).slice(0, length)}!`, "a.test");
    }
    expect(performance.now() - started).toBeLessThan(500);
  });
});
