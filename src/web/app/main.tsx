import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadText } from "../text/text.ts";
import { App, loadScreen } from "./App.tsx";
import { parseRoute } from "./router.ts";
import { createClient } from "./store.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root.");
const { pathname } = new URL(import.meta.url);
const client = createClient({
  origin: location.origin,
  ...(pathname.startsWith("/assets/") && { build: pathname }),
});
// Render only after the screen's script is loaded, so that no empty page is shown.
void Promise.all([loadText(), loadScreen(parseRoute(new URL(location.href)))]).then(() =>
  createRoot(root).render(
    <StrictMode>
      <App client={client} />
    </StrictMode>,
  ),
);
