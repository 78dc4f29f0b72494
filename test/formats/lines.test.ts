import { describe, expect, it } from "vitest";
import { createLineReader, type LineRecord } from "../../src/formats/lines.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(content: string | Uint8Array, cuts: number[] = []): LineRecord[] {
  const data = typeof content === "string" ? bytes(content) : content;
  const reader = createLineReader();
  const records: LineRecord[] = [];
  let from = 0;
  for (const cut of [...cuts, data.length]) {
    const chunk = data.slice(from, cut);
    records.push(...reader.push(chunk));
    // The reader may not hold on to the caller's buffer.
    chunk.fill(0x7f);
    from = cut;
  }
  records.push(...reader.close());
  return records;
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

  it("gives the same records wherever a chunk ends, and byte by byte", () => {
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

  it("shows a run of NUL bytes as a record of its own, on its own line or before a record", () => {
    const records = read(`{"a":1}\n${"\0".repeat(512)}\n${"\0".repeat(3)}{"b":2}\n`);
    expect(errors(records)).toEqual(["512 NUL bytes", "3 NUL bytes"]);
    expect(values(records)).toEqual([{ a: 1 }, { b: 2 }]);
    expect(records.at(-1)?.place).toEqual({ line: 3, byte: 524, length: 7 });
  });

  it("finds the record that was joined to a torn one, wherever that was torn", () => {
    const torn = '{"type":"user","message":{"content":[{"text":"a \\"b\\" }"},{"n":[1,2,{"deep":{}}]}]}}';
    const next = '{"type":"assistant","list":[{"x":"}{"}]}';
    for (let length = 1; length < torn.length; length += 1) {
      const first = torn.slice(0, length);
      const records = read(`${first}${next}\n`);
      const place = { line: 1, byte: length, length: next.length };
      // Behind `[`, `:` or an array's comma the second record is legal JSON of the first one: nothing tells them apart.
      if (/[[:]$/.test(first) || /\},$|[12],$/.test(first)) {
        expect(errors(records)).toHaveLength(1);
      } else {
        expect(records.at(-1)).toEqual({ place, value: JSON.parse(next), text: next });
        expect(errors(records)).toHaveLength(1);
      }
    }
  });

  it("does not take a piece of a torn record for a record", () => {
    const records = read('{"type":"assistant","content":[{"type":"text","text":"x"}\n{"a":{"b":1}\n');
    expect(values(records)).toEqual([]);
    expect(errors(records)).toHaveLength(2);
  });

  it("reports every line of pretty-printed JSON, not the objects in it", () => {
    const records = read(`${JSON.stringify({ a: { b: [{ c: 1 }] }, d: {} }, null, 2)}\n`);
    expect(values(records)).toEqual([]);
    expect(errors(records)).toHaveLength(10);
  });

  it("names JSON values that are no objects", () => {
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
    // A mutant that loops for ever is found by its steps: they must be few in a good run.
    const megabytes = process.env.VERBATIM_MUTATION_TESTS === undefined ? 50 : 1;
    const line = bytes(`{"a":"${"x".repeat(megabytes << 20)}"}\n`);
    const reader = createLineReader();
    const records: LineRecord[] = [];
    for (let from = 0; from < line.length; from += 16_384) {
      records.push(...reader.push(line.subarray(from, from + 16_384)));
    }
    expect(records.map((r) => r.place)).toEqual([{ line: 1, byte: 0, length: line.length - 1 }]);
  });

  it("does not pollute prototypes", () => {
    const [value] = values(
      read('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}\n'),
    );
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor"]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  describe("settle", () => {
    it("reads a whole last line once, and then what comes behind it on that line", () => {
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

    it("leaves a torn line waiting, then reads it whole", () => {
      const reader = createLineReader();
      expect(reader.push(bytes('{"a":{"b":1}'))).toEqual([]);
      expect(reader.settle()).toEqual([]);
      expect(reader.push(bytes("}"))).toEqual([]);
      expect(reader.settle()).toHaveLength(1);
      expect(reader.push(bytes('{"torn'))).toEqual([]);
      expect(reader.settle()).toEqual([]);
      expect(errors(reader.close())).toHaveLength(1);
    });

    it("gives the same records as reading whole, wherever it is called", () => {
      const data = bytes('{"a":"é"}\n{"b":1}{"c":2}\r\n\n{"d":3}\n{"e":{"f":[{}]}}');
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
