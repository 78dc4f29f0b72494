import fc from "fast-check";

/** Something that takes foreign input: what is put into it, and what must hold whatever that is. */
export interface Target {
  readonly name: string;
  /** Of one input. */
  readonly property: fc.IRawProperty<[unknown]>;
}

/** The worker's: tells where it is, and measures. */
export interface CaseWatch {
  begin(): void;
  /** Throws where the case took too long. */
  end(): void;
}

export type TargetList = (watch: CaseWatch, folders: Corpora) => Target[];

/** Folders with session files and with recorded streams; absent ones are left out. */
export interface Corpora {
  sessions: readonly string[];
  streams: readonly string[];
}

/** A target whose property is measured, case by case. */
export function target<Input>(
  watch: CaseWatch,
  name: string,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => void,
): Target {
  const property = fc.property(input, (value) => {
    watch.begin();
    check(value);
    watch.end();
  });
  // fast-check's runner knows nothing of the input's type either.
  return { name, property: property as fc.IRawProperty<[unknown]> };
}
