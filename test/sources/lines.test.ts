import { describe, expect, it } from "vitest";
import {
  createLineReader,
  type LineReader,
  type LineRecord,
  MAX_LINE,
} from "../../src/sources/lines/lines.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(
  content: string | Uint8Array,
  cuts: number[] = [],
  reader: LineReader = createLineReader(),
): LineRecord[] {
  const data = typeof content === "string" ? bytes(content) : content;
  const records: LineRecord[] = [];
  let from = 0;
  for (const cut of [...cuts, data.length]) {
    const chunk = data.slice(from, cut);
    records.push(...reader.push(chunk));
    // The reader must not keep a reference to the caller's buffer.
    chunk.fill(0x7f);
    from = cut;
  }
  records.push(...reader.close());
  return records;
}

/** The same bytes, with a count of reads. */
function countReads(data: Uint8Array): { bytes: Buffer; reads: () => number } {
  let reads = 0;
  const wrap = (target: Buffer): Buffer =>
    new Proxy(target, {
      get(_, key) {
        if (key === "subarray") return (from: number, to: number) => wrap(target.subarray(from, to));
        if (typeof key === "string" && /^\d/.test(key)) reads += 1;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return { bytes: wrap(Buffer.from(data)), reads: () => reads };
}

const values = (records: LineRecord[]): unknown[] => records.flatMap((r) => (r.value ? [r.value] : []));
const errors = (records: LineRecord[]): string[] => records.flatMap((r) => (r.error ? [r.error] : []));

const messy = [
  '\ufeff{"a":"é\u2028💡"}\r\n',
  '{"b":1}{"c":"}{"} {"d":"\\"}{"}\n',
  "\n  \n",
  '{"torn":"in a str{"e":{"f":"\\\\"}}\n',
  '\u0000\u0000{"g":1}\u0000\u0000\u0000{"h":1}\n',
  '[1]\n"x"\n{bad}\n',
  '{"last":true}',
].join("");

describe("createLineReader", () => {
  it("gives each record its line, byte and length", () => {
    const content = '{"a":"é"}\n{"b":1}{"c":2}\n\n{"d":3}';
    const places = read(content).map((r) => r.place);
    expect(places).toEqual([
      { line: 1, byte: 0, length: 10 },
      { line: 2, byte: 11, length: 7 },
      { line: 2, byte: 18, length: 7 },
      { line: 3, byte: 26, length: 0 },
      { line: 4, byte: 27, length: 7 },
    ]);
    const data = bytes(content);
    for (const record of read(content)) {
      if (!record.value) continue;
      const { byte, length } = record.place;
      expect(JSON.parse(new TextDecoder().decode(data.subarray(byte, byte + length)))).toEqual(record.value);
    }
  });

  it("returns the same records for all chunk boundaries, and byte by byte", () => {
    const data = bytes(messy);
    const whole = read(data);
    expect(values(whole)).toEqual([
      { a: "é\u2028💡" },
      { b: 1 },
      { c: "}{" },
      { d: '"}{' },
      { e: { f: "\\" } },
      { g: 1 },
      { h: 1 },
      { last: true },
    ]);
    for (let cut = 0; cut <= data.length; cut += 1) expect(read(data, [cut])).toEqual(whole);
    expect(
      read(
        data,
        Array.from(data, (_, index) => index),
      ),
    ).toEqual(whole);
  });

  it("keeps U+2028 and U+2029 inside strings", () => {
    expect(values(read('{"a":"x\u2028y\u2029z"}\n'))).toEqual([{ a: "x\u2028y\u2029z" }]);
  });

  it("counts blank lines, each with its place, and reports no error for them", () => {
    const records = read('{"a":1}\n\n  \r\n{"b":2}\n');
    expect(records.map((r) => [r.place.line, r.blank === true])).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ]);
    expect(errors(records)).toEqual([]);
  });

  it("shows a run of NUL bytes as a separate record, on its own line or before a record", () => {
    const records = read(`{"a":1}\n${"\0".repeat(512)}\n${"\0".repeat(3)}{"b":2}\n`);
    expect(errors(records)).toEqual(["512 NUL bytes", "3 NUL bytes"]);
    expect(values(records)).toEqual([{ a: 1 }, { b: 2 }]);
    expect(records.at(-1)?.place).toEqual({ line: 3, byte: 524, length: 7 });
  });

  it("finds the record that was joined to a torn one, wherever that one was torn", () => {
    const torn = '{"type":"user","message":{"content":[{"text":"a \\"b\\" }"},{"n":[1,2,{"deep":{}}]}]}}';
    const next = '{"type":"assistant","list":[{"x":"}{"}]}';
    for (let length = 1; length < torn.length; length += 1) {
      const first = torn.slice(0, length);
      const records = read(`${first}${next}\n`);
      const place = { line: 1, byte: length, length: next.length };
      // After `[`, `:` or an array's comma, the second record is valid JSON within the first one, so they cannot be
      // distinguished.
      if (/[[:]$/.test(first) || /\},$|[12],$/.test(first)) {
        expect(errors(records)).toHaveLength(1);
      } else {
        expect(records.at(-1)).toEqual({ place, value: JSON.parse(next), text: next });
        expect(errors(records)).toHaveLength(1);
      }
    }
  });

  it("finds many records joined to torn ones in linear time", () => {
    const looksAt = (joined: number) => {
      const line = `{"type":"assistant","text":"to${'{"type":"user","list":[{"x":"}{"}]}'.repeat(joined)}\n`;
      const counted = countReads(bytes(line));
      const records = createLineReader().push(counted.bytes);
      expect(records).toHaveLength(joined + 1);
      return counted.reads();
    };
    expect(looksAt(400) / looksAt(100)).toBeLessThan(5);
  });

  it("does not return a piece of a torn record as a record", () => {
    const records = read('{"type":"assistant","content":[{"type":"text","text":"x"}\n{"a":{"b":1}\n');
    expect(values(records)).toEqual([]);
    expect(errors(records)).toHaveLength(2);
  });

  it("reports every line of pretty-printed JSON, not the objects in it", () => {
    const records = read(`${JSON.stringify({ a: { b: [{ c: 1 }] }, d: {} }, null, 2)}\n`);
    expect(values(records)).toEqual([]);
    expect(errors(records)).toHaveLength(10);
  });

  it("reports JSON values that are not objects", () => {
    const found = errors(read('[]\n"str"\n42\nnull\ntrue\n'));
    expect(found).toEqual([
      "JSON, but an array instead of an object",
      "JSON, but a string instead of an object",
      "JSON, but a number instead of an object",
      "JSON, but null instead of an object",
      "JSON, but a boolean instead of an object",
    ]);
  });

  it("reads 500 levels of nesting and refuses more, with that reason", () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(values(read(`${nested(500)}\n`))).toHaveLength(1);
    expect(errors(read(`${nested(501)}\n`))).toEqual(["nested deeper than 500 levels"]);
    expect(errors(read(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`))).toEqual([
      "nested deeper than 500 levels",
    ]);
  });

  it("reads a line of 50 MB fed in small chunks", () => {
    // A mutant that loops forever is detected by its steps, so a good run must have few.
    const megabytes = process.env.VERBATIM_MUTATION_TESTS === undefined ? 50 : 1;
    const line = bytes(`{"a":"${"x".repeat(megabytes << 20)}"}\n`);
    const reader = createLineReader();
    const records: LineRecord[] = [];
    for (let from = 0; from < line.length; from += 16_384) {
      records.push(...reader.push(line.subarray(from, from + 16_384)));
    }
    expect(records.map((r) => r.place)).toEqual([{ line: 1, byte: 0, length: line.length - 1 }]);
  });

  it("reports a line that is too long, for all chunk boundaries, and continues after it", () => {
    const data = bytes('{"a":1}\n{"b":"longer than"}\n\0\0{"c":"as long"}\n{"d":"without end"}{"e":1}');
    const short = (cuts: number[]) => read(data, cuts, createLineReader({ line: 1, byte: 0 }, 15));
    const whole = short([]);
    expect(whole.map(({ place, value, text, error }) => [place, value ?? `${text}: ${error}`])).toEqual([
      [{ line: 1, byte: 0, length: 7 }, { a: 1 }],
      [{ line: 2, byte: 8, length: 19 }, ": a line of 19 bytes, longer than 15"],
      [{ line: 3, byte: 28, length: 2 }, ": 2 NUL bytes"],
      [{ line: 3, byte: 30, length: 15 }, { c: "as long" }],
      [{ line: 4, byte: 46, length: 26 }, ": a line of 26 bytes, longer than 15"],
    ]);
    for (let cut = 0; cut <= data.length; cut += 1) expect(short([cut])).toEqual(whole);
    expect(short(Array.from(data, (_, index) => index))).toEqual(whole);
  });

  it("does not buffer a line without an end, and reports it once", () => {
    const reader = createLineReader();
    const piece = bytes("x".repeat(1 << 20));
    reader.push(bytes("{}\n"));
    for (let count = 0; count < 65; count += 1) expect(reader.push(piece)).toEqual([]);
    expect(reader.settle()).toEqual([]);
    expect(reader.push(bytes('{"a":1}'))).toEqual([]);
    expect(reader.settle()).toEqual([]);
    const length = 65 * piece.length + 7;
    expect(reader.close()).toEqual([
      {
        place: { line: 2, byte: 3, length },
        text: "",
        error: `a line of ${length} bytes, longer than ${MAX_LINE}`,
      },
    ]);
    expect(reader.close()).toEqual([]);
    expect(reader.push(bytes('\n{"b":2}\n')).map(({ place }) => place)).toEqual([
      { line: 3, byte: length + 4, length: 7 },
    ]);
  });

  it("does not buffer leading NUL bytes of a line", () => {
    const reader = createLineReader();
    const pieces = process.env.VERBATIM_MUTATION_TESTS === undefined ? 100 : 1;
    const piece = new Uint8Array(1 << 20);
    reader.push(bytes('{"a":1}\n'));
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < pieces; count += 1) expect(reader.push(piece)).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(piece.length);
    expect(reader.settle()).toEqual([]);
    const length = pieces * piece.length;
    const place = (byte: number, of: number) => ({ line: 2, byte, length: of });
    const records = [
      ...reader.push(bytes('x{"b":2}')),
      ...reader.push(bytes("\n\0\n\n\0")),
      ...reader.close(),
    ];
    expect(records.map((record) => [record.place, record.error, record.blank])).toEqual([
      [place(8, length), `${length} NUL bytes`, undefined],
      [place(8 + length, 1), expect.stringContaining("no valid JSON"), undefined],
      [place(9 + length, 7), undefined, undefined],
      [{ line: 3, byte: 17 + length, length: 1 }, "1 NUL bytes", undefined],
      [{ line: 4, byte: 19 + length, length: 0 }, undefined, true],
      [{ line: 5, byte: 20 + length, length: 1 }, "1 NUL bytes", undefined],
    ]);
    expect(reader.close()).toEqual([]);
    expect(reader.push(bytes("\n\n")).map(({ place }) => place.line)).toEqual([6]);
  });

  it("does not pollute prototypes", () => {
    const [value] = values(
      read('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}\n'),
    );
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor"]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  /** Each record as its value, or its text with the error. */
  const told = (records: LineRecord[]): unknown[] =>
    records.map((r) => (r.blank ? "blank" : (r.value ?? `${r.text} (${r.error?.split(":")[0]})`)));

  it("finds the records before a torn one, wherever that one was torn", () => {
    const whole = ['{"a":"}{"}', '{"b":"\\"{"}', '{"c":{"d":[{}]},"e":"\\\\"}'];
    const torn = '{"type":"user","text":"a \\"b\\" }","n":[1,{"m":"{"}]}';
    for (let length = 1; length < torn.length; length += 1) {
      const rest = torn.slice(0, length).trimEnd();
      const records = read(`${whole.join(" ")}${rest}\n`);
      expect(records.map((r) => r.text)).toEqual([...whole, rest]);
      expect(values(records)).toEqual(whole.map((text) => JSON.parse(text)));
      const start = whole.join(" ").length;
      expect(records.at(-1)?.place).toEqual({ line: 1, byte: start, length: rest.length });
    }
  });

  it("reports torn records between others, and lines that are not records", () => {
    expect(told(read('{"a":1}{"to{"b":"{"}{"c":"}"}\n'))).toEqual([
      { a: 1 },
      '{"to (no valid JSON)',
      { b: "{" },
      { c: "}" },
    ]);
    for (const next of [
      '{"b":"{"}',
      '{"b":"}"}',
      '{"b":"\\\\"}',
      '{"b":"\\"{"}',
      '{"b":"\\\\\\"}{"}',
      '{"":0}',
    ]) {
      expect(told(read(`{"n":1${next}\n`)), next).toEqual(['{"n":1 (no valid JSON)', JSON.parse(next)]);
    }
    // An object without members could be the end of anything.
    for (const line of [
      '{"n":1{}',
      '{"n":[1}{}',
      '{"n":1}x',
      "x",
      'x{"a":1}',
      '{"a":1}x{"b":2}y',
      "}",
      "}}{",
    ]) {
      expect(told(read(`${line}\n`)), line).toEqual([`${line} (no valid JSON)`]);
    }
    expect(told(read('{"a":1} {"b":2}\t{"c":3} \r\n'))).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
    expect(told(read("{}{}\n"))).toEqual([{}, {}]);
  });

  it("treats an object after a torn record as its piece if it could be one", () => {
    for (const [line, isPiece] of [
      ['{"a":{"c":2}', true],
      ['{"a": \t{"c":2}', true],
      ['{"a":[{"c":2}', true],
      ['{"a":[1, {"c":2}', true],
      ['{"a":[{"b":1},{"c":2}', true],
      ['{"a":[[1],{"c":2}', true],
      ['{"a":["]",{"c":2}', true],
      ['{"a":["\\"]",{"c":2}', true],
      ['{"a":["x"{"c":2}', false],
      ['{"a":[1]{"c":2}', false],
      ['{"a":[1],{"c":2}', false],
      ['{"a":[{}],{"c":2}', false],
      ['{"a":"[",{"c":2}', false],
      ['{"a":"\\"[",{"c":2}', false],
      ['{"a":1,{"c":2}', false],
      ['{"a":"x:{"c":2}', false],
      ['{"a"{"c":2}', false],
    ] as const) {
      expect(values(read(`${line}\n`)), line).toEqual(isPiece ? [] : [{ c: 2 }]);
      expect(errors(read(`${line}\n`)), line).toHaveLength(1);
    }
  });

  it("counts runs of NUL bytes before, between and after other content", () => {
    const records = read('{"a":1}\0\0{"b":2} \0{"to\0\0\0\n');
    expect(told(records)).toEqual([
      { a: 1 },
      " (2 NUL bytes)",
      { b: 2 },
      " (1 NUL bytes)",
      '{"to (no valid JSON)',
      " (3 NUL bytes)",
    ]);
    expect(records.map(({ place }) => [place.byte, place.length])).toEqual([
      [0, 7],
      [7, 2],
      [9, 7],
      [17, 1],
      [18, 4],
      [22, 3],
    ]);
    expect(told(read('junk\0\0{"a":1}\0\n'))).toEqual([
      "junk (no valid JSON)",
      " (2 NUL bytes)",
      { a: 1 },
      " (1 NUL bytes)",
    ]);
    expect(told(read('\0 {"a":1}\n'))).toEqual([" (1 NUL bytes)", { a: 1 }]);
    // After NUL bytes a record may follow other text; on the next line, and after the end of an earlier read, it may not.
    expect(told(read('\0x{"a":1}\nx{"b":2}\n'))).toEqual([
      " (1 NUL bytes)",
      "x (no valid JSON)",
      { a: 1 },
      'x{"b":2} (no valid JSON)',
    ]);
    for (const end of ["settle", "close"] as const) {
      const reader = createLineReader();
      const records = [
        ...reader.push(bytes('\0{"a":1}')),
        ...reader[end](),
        ...reader.push(bytes('x{"b":2}\n')),
      ];
      expect(told(records)).toEqual([" (1 NUL bytes)", { a: 1 }, 'x{"b":2} (no valid JSON)']);
    }
    expect(told(read('{"a":1 \0\0\n'))).toEqual(['{"a":1 (no valid JSON)', " (2 NUL bytes)"]);
  });

  it("drops a byte order mark only at the start of the file", () => {
    const place = (byte: number, line = 1) => ({ line, byte, length: 7 });
    expect(read('\ufeff{"a":1}\n').map((r) => [r.value, r.place])).toEqual([[{ a: 1 }, place(3)]]);
    expect(told(read("\ufeff\n"))).toEqual(["blank"]);
    for (const content of [
      '{"a":1}\n\ufeff{"b":1}\n',
      '\n\ufeff{"b":1}\n',
      '\ufeff\ufeff{"b":1}\n',
      ' \ufeff{"b":1}\n',
    ]) {
      expect(errors(read(content)), content).toHaveLength(1);
    }
    // Bytes that only begin like a byte order mark.
    for (const bytesOf of [
      [0xef],
      [0xef, 0xbb],
      [0xef, 0x20, 0xbf],
      [0x20, 0xbb, 0xbf],
      [0xef, 0xbb, 0x20],
    ]) {
      const content = Uint8Array.from([...bytesOf, ...bytes('{"a":1}\n')]);
      expect(values(read(content)), String(bytesOf)).toEqual([]);
      const reader = createLineReader();
      reader.push(content.subarray(0, -1));
      expect(reader.settle()).toEqual([]);
    }
    const reader = createLineReader();
    expect(reader.push(bytes('\ufeff{"a":1}'))).toEqual([]);
    expect(reader.settle().map((r) => [r.value, r.place])).toEqual([[{ a: 1 }, place(3)]]);
  });

  it("starts at a given byte, with or without a known line number", () => {
    const places = (start: { line: number; byte: number }) => {
      const reader = createLineReader(start);
      const records = [...reader.push(bytes('{"a":1}\n{"b":2}\n{"c":3}')), ...reader.close()];
      return records.map(({ place }) => [place.line, place.byte]);
    };
    expect(places({ line: 5, byte: 100 })).toEqual([
      [5, 100],
      [6, 108],
      [7, 116],
    ]);
    expect(places({ line: 0, byte: 100 })).toEqual([
      [0, 100],
      [0, 108],
      [0, 116],
    ]);
    const reader = createLineReader({ line: 2, byte: 9 });
    expect(errors(reader.push(bytes('\ufeff{"a":1}\n')))).toHaveLength(1);
  });

  it("continues after the end of an earlier read", () => {
    const reader = createLineReader();
    expect(told(reader.push(bytes('{"a":1}')))).toEqual([]);
    expect(told(reader.close())).toEqual([{ a: 1 }]);
    expect(reader.close()).toEqual([]);
    // The newline arrives after all: it ends the line that was read, and is not a blank line.
    expect(reader.push(bytes("\n"))).toEqual([]);
    expect(reader.push(bytes('{"b":2}\n\n')).map(({ place }) => place)).toEqual([
      { line: 2, byte: 8, length: 7 },
      { line: 3, byte: 16, length: 0 },
    ]);
  });

  it("reads 500 levels with any content in the last one", () => {
    const nested = (leaf: string, levels = 500): string =>
      `${'{"a":'.repeat(levels)}${leaf}${"}".repeat(levels)}`;
    for (const leaf of ["null", '"x"', "true"]) expect(errors(read(nested(leaf)))).toEqual([]);
    for (const leaf of ["{}", "[]"]) expect(errors(read(nested(leaf)))).toHaveLength(1);
    expect(errors(read(nested(`[1,{"b":[]}]`, 497)))).toEqual([]);
    expect(errors(read(nested(`[1,{"b":[]}]`, 498)))).toHaveLength(1);
  });

  describe("settle", () => {
    it("returns the complete records before a torn one, and keeps that one pending", () => {
      const reader = createLineReader();
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes(' {"a":1} {"b":{"c":1} '))).toEqual([]);
      expect(told(reader.settle())).toEqual([{ a: 1 }]);
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes("}\n")).map((r) => [r.value, r.place])).toEqual([
        [{ b: { c: 1 } }, { line: 1, byte: 9, length: 14 }],
      ]);
      expect(reader.push(bytes('  {"to'))).toEqual([]);
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes('rn":1}'))).toEqual([]);
      expect(told(reader.settle())).toEqual([{ torn: 1 }]);
      expect(told([...reader.push(bytes("\n \n")), ...reader.settle()])).toEqual(["blank"]);
      for (const text of ["  ", "[1]", "x}", '"}"']) {
        const other = createLineReader();
        other.push(bytes(text));
        expect(other.settle(), text).toEqual([]);
      }
    });

    it("returns a complete last line once, and then what is appended to it", () => {
      const reader = createLineReader();
      expect(reader.push(bytes('{"a":1}\n{"b":2}'))).toHaveLength(1);
      expect(reader.settle()).toEqual([
        { place: { line: 2, byte: 8, length: 7 }, value: { b: 2 }, text: '{"b":2}' },
      ]);
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes('{"c":3}\n{"d":4}'))).toEqual([
        { place: { line: 2, byte: 15, length: 7 }, value: { c: 3 }, text: '{"c":3}' },
      ]);
      expect(reader.settle()).toEqual([
        { place: { line: 3, byte: 23, length: 7 }, value: { d: 4 }, text: '{"d":4}' },
      ]);
      expect(reader.push(bytes("\n\n"))).toEqual([{ place: { line: 4, byte: 31, length: 0 }, blank: true }]);
      expect(reader.close()).toEqual([]);
    });

    it("keeps a torn line pending, then returns it completely", () => {
      const reader = createLineReader();
      expect(reader.push(bytes('{"a":{"b":1}'))).toEqual([]);
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes("}"))).toEqual([]);
      expect(reader.settle()).toHaveLength(1);
      expect(reader.push(bytes('{"torn'))).toEqual([]);
      expect(reader.settle()).toEqual([]);
      expect(errors(reader.close())).toHaveLength(1);
    });

    it("returns the same records as a full read, wherever it is called", () => {
      const data = bytes(
        '{"a":"é"}\n{"b":1}{"c":2}\r\n\n{"d":3}\n\0\0{"e":{"f":[{}]}}\n\0x{"g":7}\n{"h":{"i":[{}]}}',
      );
      const whole = read(data);
      for (let cut = 0; cut <= data.length; cut += 1) {
        const reader = createLineReader();
        const records = [
          ...reader.push(data.subarray(0, cut)),
          ...reader.settle(),
          ...reader.push(data.subarray(cut)),
          ...reader.close(),
        ];
        expect(records).toEqual(whole);
      }
    });
  });
});
