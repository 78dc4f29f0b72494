import { describe, expect, test } from "vitest";
import { parsedTime } from "../../src/sources/parsed-time.ts";

describe("parsedTime", () => {
  const days = [
    "2026-01-31",
    "2024-02-29",
    "2026-02-30",
    "2026-13-01",
    "0099-01-01",
    "1969-12-31",
    "20x6-01-01",
  ];
  const times = [
    "12:34:56.789",
    "12:34:00.000",
    "23:59:59.999",
    "24:00:00.000",
    "24:00:01.000",
    "12:60:00.000",
  ];
  const seconds = [
    "12:34:60.000",
    "12:34:5 .000",
    "12:34:56.78x",
    "12:34:-1.000",
    "12:34:56,789",
    "99:34:56.789",
  ];
  const texts = days.flatMap((day) => [...times, ...seconds].map((time) => `${day}T${time}Z`));

  test.each([...texts, "", "2026-01-31", "2026-01-31T12:34:56Z", "2026-01-31T12:34:56.789+02:00", "no time"])(
    "reads %j as Date.parse does, whatever was read before",
    (text) => {
      for (const before of ["2026-01-31T12:34:01.001Z", text, "2026-02-30T12:34:59.000Z", text]) {
        parsedTime(before);
        expect(parsedTime(text)).toBe(Date.parse(text));
      }
    },
  );
});
