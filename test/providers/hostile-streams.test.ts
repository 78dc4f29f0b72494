import fc from "fast-check";
import { expect, it } from "vitest";
import { apiProtocols } from "../../src/providers/index.ts";
import { expectLawful } from "./message-laws.ts";
import { decodeEvents, eventsOf, recordings } from "./recordings.ts";

const RUNS = { numRuns: 300 };
const ODD = [null, "", 0, -1, 1e9, true, [], {}, "\ud83d", [null], { type: "text" }, "text", "__proto__"];

/** Streams that a proxy or a bug may produce: events of real streams lost, duplicated, out of order, with odd values. */
function damaged(events: readonly unknown[]): fc.Arbitrary<unknown[]> {
  const damage = fc.record({
    at: fc.nat(events.length - 1),
    path: fc.array(fc.nat(5), { maxLength: 5 }),
    odd: fc.nat(ODD.length),
  });
  return fc.array(damage, { minLength: 1, maxLength: 25 }).map((damages) =>
    damages.map(({ at, path, odd }) => {
      const event = structuredClone(events[at]);
      return odd === ODD.length ? event : withOdd(event, path, ODD[odd]);
    }),
  );
}

/** The value with the member at the path replaced, if it exists. */
function withOdd(value: unknown, [first, ...rest]: readonly number[], odd: unknown): unknown {
  if (first === undefined || typeof value !== "object" || value === null) return odd;
  const keys = Object.keys(value);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return odd;
  const changed = withOdd(Object.entries(value).find(([name]) => name === key)?.[1], rest, odd);
  if (Array.isArray(value)) return value.map((inner, at) => (String(at) === key ? changed : inner));
  return { ...value, [key]: changed };
}

it("an answer that is not a stream is read the same for any split, also within leading white space", () => {
  const body = new TextEncoder().encode("\r\n\r\n{\n");
  const whole = eventsOf([body]);
  expect(whole).toEqual([{ data: "\r\n\r\n{\n", event: undefined }]);
  for (let cut = 1; cut < body.length; cut += 1) {
    expect(eventsOf([body.subarray(0, cut), body.subarray(cut)])).toEqual(whole);
  }
  expect(eventsOf([new TextEncoder().encode("\n"), new TextEncoder().encode("\ndata: 1\n\n")])).toEqual([
    { data: "1", event: undefined },
  ]);
});

it.each(apiProtocols.map((format) => ({ wire: format.wire, format })))(
  "no data over $wire breaks the reader",
  ({ format }) => {
    const events = recordings
      .filter(({ format: { wire }, bytes }) => wire === format.wire && bytes.length < 20_000)
      .flatMap(({ bytes }) => eventsOf([bytes]))
      .filter(({ data }) => data.startsWith("{"))
      .map(({ data }): unknown => JSON.parse(data));
    fc.assert(
      fc.property(damaged(events), fc.constantFrom("end" as const, "abort" as const), (sent, type) => {
        const decoded = decodeEvents(
          format,
          sent.map((event) => ({ data: JSON.stringify(event), event: undefined })),
          { type },
        );
        expectLawful(decoded);
        if (type === "abort") expect(decoded.reply.executable_calls).toEqual([]);
        if (decoded.reply.message?.stop_reason === "error") expect(decoded.reply.failure).toBeDefined();
      }),
      RUNS,
    );
  },
);
