// Runs before the first paint, so that a chosen theme never flashes and the page's own script knows the language; a file
// of its own because the page's policy allows no inline script. src/web/app/settings.ts writes what is read here.
{
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem("verbatim.settings") ?? "{}") ?? {};
  } catch {
    // Storage is blocked or holds something else: the system's own preferences hold.
  }
  const { theme, language } = settings;
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  const [first] = navigator.languages.filter((name) => /^(?:en|zh)\b/i.test(name));
  const system = /^zh\b/i.test(first ?? "") ? "zh" : "en";
  const chosen = language === "en" || language === "zh" ? language : system;
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
}
