import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const page = (name: string): string => fileURLToPath(new URL(`browser/${name}.html`, import.meta.url));

/** Production builds of the benchmarks' pages: Verbatim's components and the peers', with one copy of React. */
export default defineConfig({
  root: fileURLToPath(new URL("browser", import.meta.url)),
  plugins: [react()],
  logLevel: "warn",
  resolve: {
    dedupe: ["react", "react-dom", "react-markdown"],
    alias: {
      "decode-named-character-reference": fileURLToPath(
        import.meta.resolve("decode-named-character-reference"),
      ),
    },
  },
  worker: { format: "es" },
  build: {
    target: "es2023",
    outDir: fileURLToPath(new URL("dist", import.meta.url)),
    emptyOutDir: true,
    chunkSizeWarningLimit: 100_000,
    rolldownOptions: {
      input: { stream: page("stream"), highlight: page("highlight"), transcript: page("transcript") },
    },
  },
});
