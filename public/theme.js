// Runs before the first paint, so that a chosen theme never flashes; a file of its own because the page's policy
// allows no inline script. src/web/settings.ts writes the value that is read here.
try {
  const { theme } = JSON.parse(localStorage.getItem("verbatim.settings") ?? "{}");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked or holds something else: the system's own preference holds.
}
