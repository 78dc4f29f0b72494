import type { ReactNode } from "react";
import { findInexact } from "../../hidden-text/exact-text.ts";
import { marked } from "./hidden-text.tsx";
import { ScrollBox } from "./ScrollBox.tsx";

/**
 * A text exactly as it is, for somebody who is about to allow it: in the order of its bytes whatever the direction of its
 * letters, all that cannot be seen or looks like something else marked, line ends, tabs and spaces at line ends visible.
 * It scrolls where it is long, and is never cut.
 */
export function ExactText({ text, label }: { text: string; label: string }): ReactNode {
  const lines = text.split("\n");
  return (
    <ScrollBox className="exact" label={label}>
      <pre className="exact-text" dir="ltr">
        {lines.map((line, index) => (
          <ExactLine key={index} line={line} isLast={index === lines.length - 1} />
        ))}
      </pre>
    </ScrollBox>
  );
}

function ExactLine({ line, isLast }: { line: string; isLast: boolean }): ReactNode {
  const words = line.replace(/[ \t]+$/, "");
  const end = line.slice(words.length);
  const tabs = words.split("\t");
  return (
    <>
      {tabs.map((word, index) => (
        <span key={index}>
          {index > 0 && <Sign text={"\t"} />}
          {marked(findInexact(word))}
        </span>
      ))}
      {Array.from(end, (space, index) => (
        <Sign key={index} text={space} />
      ))}
      {!isLast && <Sign text={"\n"} />}
    </>
  );
}

/** White space with a sign drawn over it by the style sheet: what is copied is the text alone. */
function Sign({ text }: { text: string }): ReactNode {
  const name = text === "\n" ? "newline" : text === "\t" ? "tab" : "space";
  return <span className={`exact-sign exact-${name}`}>{text}</span>;
}
