/** A piece of terminal output with one style. `overwritten`: later text replaced it on its line. */
export interface TerminalPiece {
  text: string;
  /** Class names without a prefix: `red`, `bold`, `dim`, `italic`, `underline`, `struck`, `concealed`. */
  style: string;
  link?: string;
  overwritten?: boolean;
}

/** Number of style changes after which the rest stays plain, because each one is an element. */
const MAX_PIECES = 4_000;
/** Maximum length of an operating system command. A longer one is treated as text. */
const MAX_COMMAND = 4_096;
const COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

interface Style {
  color: string;
  background: string;
  marks: Set<string>;
}

/**
 * Parses terminal output. Colours and links are kept; every other sequence (ECMA-48: CSI, OSC, DCS, APC, PM, SOS, C1) is
 * dropped, and nothing is executed. No text is lost: overwritten and concealed text is kept and marked as such.
 * Control bytes outside sequences stay in the text, where `visible` marks them.
 */
export function readTerminal(output: string): TerminalPiece[] {
  const text = output.replace(/\r\n/g, "\n");
  const pieces: TerminalPiece[] = [];
  const style: Style = { color: "", background: "", marks: new Set() };
  let link: string | undefined;
  /** Non-empty strings that are in no piece yet. Joined only on flush, because joining is linear in their length. */
  let plain: string[] = [];
  /** Index of the first piece after the last carriage return, from which the next carriage return overwrites. */
  let start = 0;
  let isFull = false;

  const flush = (): void => {
    if (plain.length === 0) return;
    const name = isFull ? "" : styleName(style);
    const last = pieces.at(-1);
    const added = plain.join("");
    if (last && pieces.length > start && last.style === name && last.link === link) last.text += added;
    else pieces.push({ text: added, style: name, ...(link === undefined ? {} : { link }) });
    plain = [];
    if (pieces.length > MAX_PIECES && !isFull) isFull = true;
  };
  const overwrite = (): void => {
    flush();
    for (const piece of pieces.slice(start)) piece.overwritten = true;
    start = pieces.length;
  };

  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 0x1b || (code >= 0x80 && code <= 0x9f)) {
      const sequence = readEscape(text, at);
      if (sequence.sgr !== undefined && !isFull) {
        flush();
        applySgr(style, sequence.sgr);
      } else if (sequence.link !== undefined) {
        flush();
        link = sequence.link || undefined;
      }
      at = sequence.end;
    } else if (code === 0x0d) {
      // Repeated carriage returns, or one at the end of a line, overwrite nothing.
      let next = at;
      while (text.charCodeAt(next) === 0x0d) next++;
      if (next < text.length && text[next] !== "\n") overwrite();
      at = next;
    } else if (code === 0x0a) {
      plain.push("\n");
      flush();
      start = pieces.length;
      at++;
    } else if (code === 0x08 && plain.length > 0) {
      // Overstriking: a character printed twice is bold, one printed over `_` is underlined.
      const last = plain.pop() ?? "";
      const before = last.at(-1);
      const after = text[at + 1];
      const struck = after !== undefined && (after === before || before === "_");
      if (!struck) plain.push(last, "\b");
      else if (last.length > 1) plain.push(last.slice(0, -1));
      at++;
    } else if (code === 0x07 || code === 0x0e || code === 0x0f) {
      at++;
    } else {
      let end = at + 1;
      for (; end < text.length; end++) {
        const next = text.charCodeAt(end);
        if (next < 0x20 || (next >= 0x80 && next <= 0x9f)) {
          if (next !== 0x09) break;
        }
      }
      plain.push(text.slice(at, end));
      at = end;
    }
  }
  flush();
  return pieces;
}

interface Escape {
  end: number;
  /** Parameters of a select-graphic-rendition sequence. */
  sgr?: string;
  /** Address of an OSC 8 link; empty: the link ends. */
  link?: string;
}

function readEscape(text: string, at: number): Escape {
  const code = text.charCodeAt(at);
  const second = code === 0x1b ? text.charCodeAt(at + 1) : code - 0x40;
  const body = code === 0x1b ? at + 2 : at + 1;
  if (Number.isNaN(second)) return { end: text.length };
  if (second === 0x5b) return readControlSequence(text, body);
  // OSC, DCS, SOS, PM, APC: text up to a terminator.
  if (second === 0x5d || second === 0x50 || second === 0x58 || second === 0x5e || second === 0x5f) {
    const limit = Math.min(text.length, body + MAX_COMMAND);
    for (let index = body; index < limit; index++) {
      const next = text.charCodeAt(index);
      const isString = next === 0x9c || (next === 0x1b && text[index + 1] === "\\");
      if (isString || (next === 0x07 && second === 0x5d)) {
        const end = index + (next === 0x1b ? 2 : 1);
        const link = second === 0x5d ? /^8;[^;]*;([\s\S]*)$/.exec(text.slice(body, index))?.[1] : undefined;
        return link === undefined ? { end } : { end, link };
      }
      // A command cannot span lines or contain another one, so this one is unterminated.
      if (next === 0x0a || next === 0x1b || (next >= 0x80 && next <= 0x9f)) return { end: index };
    }
    return { end: limit === text.length ? limit : body };
  }
  if (code !== 0x1b) return { end: body };
  let end = at + 1;
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x2f) end++;
  const final = text.charCodeAt(end);
  return { end: final >= 0x30 && final <= 0x7e ? end + 1 : end };
}

function readControlSequence(text: string, body: number): Escape {
  let end = body;
  while (text.charCodeAt(end) >= 0x30 && text.charCodeAt(end) <= 0x3f) end++;
  const parameters = text.slice(body, end);
  const intermediate = end;
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x2f) end++;
  const final = text.charCodeAt(end);
  if (final >= 0x40 && final <= 0x7e) {
    const plain = final === 0x6d && end === intermediate && !/[<=>?]/.test(parameters);
    return plain ? { end: end + 1, sgr: parameters } : { end: end + 1 };
  }
  // Not a valid sequence. Drop the bytes that could belong to one; what follows is text.
  while (text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x3f) end++;
  return { end };
}

function styleName(style: Style): string {
  const names = [...style.marks].filter((mark) => mark !== "inverse");
  if (style.color && style.color !== style.background) names.unshift(style.color);
  else if (style.color) names.push("concealed");
  if (style.marks.has("inverse")) names.push("inverse");
  return names.join(" ");
}

function applySgr(style: Style, parameters: string): void {
  const codes = parameters.split(";");
  for (let index = 0; index < codes.length; index++) {
    const given = codes[index] ?? "";
    const [head, ...sub] = given.split(":");
    const code = head ? Number(head) : 0;
    if (code === 38 || code === 48) {
      let color = "";
      if (sub.length > 0) color = extended(sub.map(Number), sub.length > 4);
      else {
        const kind = Number(codes[index + 1]);
        const count = kind === 2 ? 4 : kind === 5 ? 2 : 0;
        color = extended(codes.slice(index + 1, index + 1 + count).map(Number), false);
        index += count;
      }
      if (code === 38) style.color = color;
      else style.background = color;
      continue;
    }
    applySimple(style, code);
  }
}

function applySimple(style: Style, code: number): void {
  const named: Record<number, string> = {
    1: "bold",
    2: "dim",
    3: "italic",
    4: "underline",
    7: "inverse",
    8: "concealed",
    9: "struck",
  };
  const mark = named[code];
  if (code === 0) {
    style.color = "";
    style.background = "";
    style.marks.clear();
  } else if (mark !== undefined) style.marks.add(mark);
  else if (code === 22) {
    style.marks.delete("bold");
    style.marks.delete("dim");
  } else if (code > 22 && code < 30) style.marks.delete(named[code - 20] ?? "");
  else if (code >= 30 && code <= 37) style.color = COLORS[code - 30] ?? "";
  else if (code >= 90 && code <= 97) style.color = code === 90 ? "black" : (COLORS[code - 90] ?? "");
  else if (code === 39) style.color = "";
  else if (code >= 40 && code <= 47) style.background = COLORS[code - 40] ?? "";
  else if (code >= 100 && code <= 107) style.background = COLORS[code - 100] ?? "";
  else if (code === 49) style.background = "";
}

/** Maps an extended colour to the nearest one of the page's palette, so that text keeps its contrast in both themes. */
function extended(values: number[], hasColorSpace: boolean): string {
  const [kind, ...rest] = values;
  if (kind === 5) {
    const index = rest[0];
    if (index === undefined || !(index >= 0 && index <= 255)) return "";
    if (index < 16) return COLORS[index % 8] ?? "";
    if (index >= 232) return index < 244 ? "black" : "";
    const cube = index - 16;
    return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
  }
  if (kind === 2) {
    const [red, green, blue] = hasColorSpace ? rest.slice(1) : rest;
    return nearest(red ?? 0, green ?? 0, blue ?? 0);
  }
  return "";
}

function nearest(red: number, green: number, blue: number): string {
  const clamp = (value: number): number => Math.max(0, Math.min(255, Number.isFinite(value) ? value : 0));
  const [r, g, b] = [clamp(red), clamp(green), clamp(blue)];
  const most = Math.max(r, g, b);
  const least = Math.min(r, g, b);
  if (most - least < 40) return most < 110 ? "black" : "";
  const middle = (most + least) / 2;
  const bits = (r > middle ? 1 : 0) + (g > middle ? 2 : 0) + (b > middle ? 4 : 0);
  return COLORS[bits] ?? "";
}

/** The output as plain text for copying: without sequences and control bytes, but including overwritten text. */
export function terminalText(output: string): string {
  return (
    readTerminal(output)
      .map(
        (piece, index, all) => piece.text + (piece.overwritten && !all[index + 1]?.overwritten ? "\n" : ""),
      )
      .join("")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be copied.
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  );
}
