import fc from "fast-check";
import { type CaseWatch, type Target, target } from "./target.ts";

/** Targets that fail in each way that the fuzzer must detect. */
export const targets = (watch: CaseWatch): Target[] => [
  target(watch, "sound", fc.string(), () => undefined),
  target(watch, "throws", fc.array(fc.nat(99), { maxLength: 20 }), (values) => {
    if (values.some((value) => value > 50)) throw new Error("over fifty");
  }),
  target(watch, "slow", fc.constant("x"), () => {
    const until = process.threadCpuUsage().user + 220_000;
    while (process.threadCpuUsage().user < until);
  }),
  target(watch, "endless", fc.nat(9), (value) => {
    for (;;) if (value > 9) return;
  }),
];
