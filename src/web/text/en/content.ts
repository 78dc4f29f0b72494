import { counted, exactNumber } from "../../ui/size.ts";

/** Text around the content of a session: texts, code, outputs, images and their records. */
export const content = {
  images: {
    list: "Images of this prompt",
    name: (number: number): string => `Image ${number}`,
    remove: (number: number): string => `Remove image ${number}`,
    add: "Add images",
    reading: "Reading images",
    ways: "Or paste them, or drop them here",
    none: "This model does not accept images",
    noneButFile: "This model does not accept images: save the image in the folder and enter its path.",
    tooMany: (most: number): string =>
      `A prompt can have at most ${most} images: send the others with the next one.`,
    unnamed: "The image",
    unsupported: (name: string): string =>
      `${name} is not an image that models accept: use PNG, JPEG, GIF or WebP.`,
    tooLarge: (name: string): string => `${name} is larger than 5 MB: send a smaller copy.`,
    unreadable: (name: string): string => `${name} could not be read.`,
  },
  output: {
    /** `isSeen`: "all" refers to what the agent saw, not to the whole output. */
    all: (size: string, isSeen = false): string => `Show all${isSeen ? " that the agent saw" : ""} (${size})`,
    allLines: (lines: number, isSeen = false): string =>
      `Show all ${exactNumber(lines)} lines${isSeen ? " that the agent saw" : ""}`,
    linesBefore: (lines: number, all: number): string =>
      `Show ${exactNumber(lines)} of ${exactNumber(all)} earlier lines`,
    earlierLines: (lines: number): string => `Show ${exactNumber(lines)} earlier lines`,
    moreLines: (lines: number): string => `Show ${exactNumber(lines)} more lines`,
    someLines: (lines: number, all: number): string =>
      `Show ${exactNumber(lines)} of ${exactNumber(all)} more lines`,
    cut: (size: string): string => `truncated, ${size} in all`,
    cutHere: (size: string): string => `Truncated here, ${size} in all.`,
    rest: (size: string): string => `Load the rest (${size} in all)`,
    longLines: (size: string): string => `Show long lines in full (${size})`,
    concealed: "The program concealed this text",
    overwritten: "overwritten",
    overwrittenTitle: "The program wrote over this on the same line",
  },
  code: {
    tooSlow: "not highlighted: it took too long",
    highlightedTo: (line: number): string => `highlighted up to line ${line}`,
  },
  diff: {
    of: (path: string): string => `Changes of ${path}`,
    added: (lines: number): string => `${counted(lines, "line")} added, `,
    removed: (lines: number): string => `${exactNumber(lines)} removed`,
  },
  markdown: {
    plain: (reason: string): string => `Shown as plain text: ${reason}.`,
    table: "Table",
    done: "done",
    toDo: "to do",
    late: "the text before it is too long",
    gaveUp: "the Markdown parser gave up",
    deep: "nested deeper than 100 levels",
    manyElements: "more than 8,000 elements in one block",
    marks: "thousands of marks without a blank line",
    manyMarks: "more than 1,000 marks in one paragraph",
    longParagraph: "a paragraph of more than 16,000 characters",
    longWord: "a word of more than 2,000 characters",
    longAddress: "an address of more than 2,000 characters",
    manyLines: "a paragraph of more than 2,000 lines",
    nested: "more than 1,000 quotes and lists within others",
  },
  kept: {
    whole: "whole output",
    piece: "piece of the whole output",
    open: (size: string): string => `Open whole output${size}`,
    showSeen: "Show what the agent saw",
    before: "Show what comes before",
    after: "Show what follows",
    /** Sizes as text. `to` absent: to the end of the file. `all` is empty if unknown. */
    range: (from: string, to: string | undefined, all: string): string =>
      `from ${from}${to === undefined ? " to its end" : ` to ${to}`}${all === "" ? "" : ` of ${all}`}`,
    notOpened: "Not opened:",
  },
  media: {
    image: "image",
    unknown: "unknown attachment",
    get: "Get file",
    save: "Save file",
    show: "Show image",
    loading: "Loading the image…",
    failed: "The image could not be loaded:",
    notHere: "not in this document",
    notShown: (reason: string): string => `The image is not shown automatically: ${reason}.`,
    has: (size: string): string => `its size is ${size}`,
    unknownPixels: "its number of pixels is unknown",
    megapixels: (count: number): string => `it has ${exactNumber(count)} megapixels`,
    noAttachment: (reference: string): string => `${reference} is not an attachment.`,
  },
  raw: {
    record: "record",
    reading: "Reading the record…",
    failed: "The record could not be read:",
    cut: (size: string): string => `Truncated here: the record has ${size}.`,
    archived: "(from the archive: the agent's file is gone)",
    byte: "byte",
    length: "length",
  },
};
