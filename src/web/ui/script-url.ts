/** The address of a worker's script as a TrustedScriptURL, which the page's policy requires. Must only be used for own files. */
export function scriptUrl(url: string): string {
  // TypeScript's library has no Trusted Types. Here a TrustedScriptURL is accepted in place of a string.
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
  };
  return trustedTypes
    ? trustedTypes
        .createPolicy("verbatim-worker", { createScriptURL: (address: string) => address })
        .createScriptURL(url)
    : url;
}
