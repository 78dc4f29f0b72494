// Runs before the first paint, so that the wrong theme never flashes and the page's script knows the language. It is a
// separate file because the page's policy allows no inline scripts. src/web/app/settings.ts writes the settings.
{
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem("verbatim.settings") ?? "{}") ?? {};
  } catch {
    // Storage is blocked or contains something else: the system's preferences apply.
  }
  const { theme, language } = settings;
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  const [first] = navigator.languages.filter((name) => /^(?:en|zh)\b/i.test(name));
  const system = /^zh\b/i.test(first ?? "") ? "zh" : "en";
  const chosen = language === "en" || language === "zh" ? language : system;
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
}
