import fc from "fast-check";

/** A reader of foreign input: its generated inputs, and the property that must hold for each. */
export interface Target {
  readonly name: string;
  /** The property of one input. */
  readonly property: fc.IRawProperty<[unknown]>;
}

/** The worker's watch: reports the current case, and measures it. */
export interface CaseWatch {
  begin(): void;
  /** Throws if the case took too long. */
  end(): void;
}

export type TargetList = (watch: CaseWatch, folders: Corpora) => Target[];

/** Folders with session files and with recorded streams; missing ones are skipped. */
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
  // fast-check's runner does not know the input's type either.
  return { name, property: property as fc.IRawProperty<[unknown]> };
}
