import type { Endpoint } from "./provider.ts";

/** The URL of a path below the endpoint. `path` begins with a slash and may have a query. */
export function endpointUrl({ base_url }: Endpoint, path: string): string {
  return base_url.replace(/\/+$/, "") + path;
}

/** The headers of a request for an event stream, including the protocol's own. */
export function requestHeaders(own: Readonly<Record<string, string>>): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream",
    // Some proxies buffer a compressed answer until it is complete.
    "accept-encoding": "identity",
    ...own,
  };
}

/** The header `authorization: Bearer`, if there is a key. */
export function bearer({ api_key }: Endpoint): Record<string, string> {
  return api_key === undefined || api_key === "" ? {} : { authorization: `Bearer ${api_key}` };
}

/** Converts a tool name to one that all protocols accept. */
export function legalToolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed_tool";
}
