/** The path in a `file:` URL; any other text unchanged. */
export function localPath(text: string): string {
  if (!text.startsWith("file://")) return text;
  const encoded = text.slice("file://".length);
  const path = decoded(encoded);
  // A drive of Windows is preceded by a slash, a file server by two.
  if (/^\/[A-Za-z]:/.test(path)) return path.slice(1);
  return path.startsWith("/") ? path : `//${path}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
