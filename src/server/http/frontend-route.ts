import type { Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Frontend } from "./frontend.ts";

/** Adds the route of the built page, for all paths that no other route has. `remote`: its files are compressed. */
export function addFrontendRoute(app: Hono, frontend: Frontend | undefined, remote: boolean): void {
  app.get("*", async (context) => {
    const path = context.req.path;
    // Paths without an extension are screens, which the page itself handles.
    const file = frontend?.read(/\.[a-z0-9]+$/i.test(path) ? path : "/");
    if (!file) {
      return frontend
        ? context.text("No such file.", 404)
        : context.text("The page is not built. Run `npm run build`, then restart.", 503);
    }
    const brotli = remote ? file.brotli : undefined;
    const compresses = brotli !== undefined && acceptsBrotli(context);
    const etag = compresses ? file.etag.replace(/"$/, '-br"') : file.etag;
    const headers = {
      etag,
      "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "no-cache",
      ...(brotli && { vary: "accept-encoding" }),
    };
    if (context.req.header("if-none-match") === etag) return context.body(null, 304, headers);
    const typed = { ...headers, "content-type": file.type };
    return compresses
      ? context.body(await brotli(), 200, { ...typed, "content-encoding": "br" })
      : context.body(file.body, 200, typed);
  });
}

function acceptsBrotli(context: Context): boolean {
  return (
    accepts(context, {
      header: "Accept-Encoding",
      supports: ["br"],
      default: "identity",
      match: (accepted) => (accepted.some(({ type, q }) => type === "br" && q > 0) ? "br" : "identity"),
    }) === "br"
  );
}
