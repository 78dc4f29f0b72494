/** The address of a worker's script as a TrustedScriptURL, which the page's policy requires. Only for files of the build. */
export function scriptUrl(url: string): string {
  // TypeScript's library does not have Trusted Types. A TrustedScriptURL is accepted wherever a string is.
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
  };
  return trustedTypes
    ? trustedTypes
        .createPolicy("verbatim-worker", { createScriptURL: (address: string) => address })
        .createScriptURL(url)
    : url;
}
