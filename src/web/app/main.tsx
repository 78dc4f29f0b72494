import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadText } from "../text/text.ts";
import { App } from "./App.tsx";
import { createClient } from "./store.ts";
import "./theme.css";
import "./page.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root.");
const { pathname } = new URL(import.meta.url);
const client = createClient({
  origin: location.origin,
  ...(pathname.startsWith("/assets/") && { build: pathname }),
});
void loadText().then(() =>
  createRoot(root).render(
    <StrictMode>
      <App client={client} />
    </StrictMode>,
  ),
);
