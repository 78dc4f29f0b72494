import { CHINESE_ERRORS, LOGIN_TEXTS, type LoginLanguage } from "./login-texts.ts";

/** Pages that a browser sees before it is signed in. They contain no session content. */

const SCRIPT = `const chinese = ${JSON.stringify(CHINESE_ERRORS)};
const form = document.querySelector("form");
const note = document.querySelector("output");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  note.textContent = "";
  const password = form.elements.namedItem("password").value;
  const reply = await fetch("/api/login", {
    method: "POST",
    headers: { "content-type": "application/json", "x-verbatim-client": "1" },
    body: JSON.stringify({ password }),
  }).catch(() => undefined);
  if (reply?.ok) return location.reload();
  const said = await reply?.json().catch(() => undefined);
  const known = document.documentElement.lang === "zh-CN" ? chinese : {};
  const { message, message_code, remedy = "", remedy_code } = said?.error ?? {};
  const shown =
    message === undefined
      ? (known.no_answer ?? "Verbatim does not answer.")
      : (known[message_code?.code] ?? message);
  note.textContent = \`\${shown} \${known[remedy_code?.code] ?? remedy}\`;
});
`;

/**
 * A browser omits the strict cookie if another site's page led to this one, and Firefox also when that is reloaded. So this page
 * reloads its own address, including the fragment, which servers never see. It does so once: if the cookie is still omitted, the
 * login page is shown.
 */
const STEP = `const here = location.href;
const now = () => performance.timeOrigin + performance.now();
const stepped = Number(sessionStorage.getItem("verbatim-step"));
if (Math.abs(performance.timeOrigin - stepped) > 500) {
  sessionStorage.setItem("verbatim-step", String(now()));
  // Assigning the current address would not load the page again, except for its fragment.
  history.replaceState(null, "", "?step");
  location.replace(here);
}
`;

const STYLE = `:root { color-scheme: dark light; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; padding: 15vh 24px 0; }
main { max-width: 60ch; margin: 0 auto; }
h1 { font-size: 20px; }
code { font: 14px/1.5 ui-monospace, monospace; padding: 4px 8px; border: 1px solid; border-radius: 4px; }
input, button { font: inherit; padding: 8px; }
`;

/** The files of the login pages, served to anyone at an allowed address. */
export const LOGIN_FILES: ReadonlyMap<string, { type: string; body: string }> = new Map([
  ["/login.js", { type: "text/javascript; charset=utf-8", body: SCRIPT }],
  ["/step.js", { type: "text/javascript; charset=utf-8", body: STEP }],
  ["/login.css", { type: "text/css; charset=utf-8", body: STYLE }],
]);

const askForLink = ({ get_link, link_works_once }: (typeof LOGIN_TEXTS)["en"]): string => `<p>${get_link}</p>
<p><code>npm start -- --link</code></p>
<p>${link_works_once}</p>`;

/**
 * `link`: no cookie; `used`: a launch link that was used or has expired; `password`: asks for it; `enter`: continues to `next`, a
 * path that the caller has checked. `step`: `link` and `password` reload their own address once before they are shown.
 */
export function loginPage(
  kind: "link" | "used" | "password" | "enter",
  language: LoginLanguage,
  { next = "/", step = false }: { next?: string; step?: boolean } = {},
): string {
  const texts = LOGIN_TEXTS[language];
  const address = next.replaceAll("&", "&amp;");
  // Not deferred, so that nothing is painted before it has run.
  const head = step ? '<script src="/step.js"></script>' : "";
  switch (kind) {
    case "link":
      return page(
        language,
        `<h1>${texts.not_signed_in}</h1>
<p>${texts.opens_from_link}</p>
${askForLink(texts)}`,
        head,
      );
    case "used":
      return page(language, `<h1>${texts.link_used}</h1>\n${askForLink(texts)}`);
    case "password":
      return page(
        language,
        `<h1>Verbatim</h1>
<form><label>${texts.password} <input type="password" name="password" autocomplete="current-password" autofocus required></label>
<button>${texts.enter}</button></form>
<p><output></output></p>
<script src="/login.js" defer></script>`,
        head,
      );
    case "enter":
      return page(
        language,
        `<p><a href="${address}">${texts.continue}</a></p>`,
        `<meta http-equiv="refresh" content="0;url=${address}">`,
      );
    default:
      return kind satisfies never;
  }
}

function page(language: LoginLanguage, main: string, head = ""): string {
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Verbatim</title>
<link rel="stylesheet" href="/login.css">${head}</head>
<body><main>
${main}
</main></body>
</html>
`;
}
