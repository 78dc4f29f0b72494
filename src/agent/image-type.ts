/** The MIME type of an image, from its first bytes; `undefined`: not a format that providers and browsers support. */
export function imageType(bytes: Buffer): string | undefined {
  const at = (position: number, length: number): string =>
    bytes.toString("latin1", position, position + length);
  if (at(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (at(0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (/^GIF8[79]a/.test(at(0, 6))) return "image/gif";
  if (at(0, 4) === "RIFF" && at(8, 4) === "WEBP") return "image/webp";
  return undefined;
}
