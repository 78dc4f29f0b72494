import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App.tsx";
import { createClient } from "./store.ts";
import "./theme.css";
import "./page.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root.");
const { pathname } = new URL(import.meta.url);
createRoot(root).render(
  <StrictMode>
    <App
      client={createClient({
        origin: location.origin,
        ...(pathname.startsWith("/assets/") && { build: pathname }),
      })}
    />
  </StrictMode>,
);
