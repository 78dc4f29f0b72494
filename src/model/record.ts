import * as z from "zod";

/**
 * The schema of a stored or sent object. Unknown fields are kept when decoding and encoding, so that data of newer versions is
 * not lost, but they are not in the inferred type.
 */
export function record<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strip> {
  // The cast only hides the index signature that `looseObject` adds to the inferred type.
  return z.looseObject(shape) as unknown as z.ZodObject<Shape, z.core.$strip>;
}

/** A field that may be absent, but never `undefined`. */
export const optional = z.exactOptional;

/** A UUID of any version: the ids of sessions, messages and parts. */
export const uuid = z.guid();

/** Milliseconds since 1970-01-01 UTC. */
export const milliseconds = z.number();
