/** The content security policy of downloads with an agent's content: nothing in them is loaded or executed. */
export const SANDBOX = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Sends bytes from an agent as a download, so that nothing in them is executed. */
export function download(bytes: Uint8Array, type: string): Response {
  return new Response(new Uint8Array(bytes), {
    headers: {
      "content-type": type,
      "content-disposition": "attachment",
      "content-security-policy": SANDBOX,
    },
  });
}
