/** Suffixes with which providers name a version of a model. */
const VERSION = /[-@:](?:latest|preview|\d{4}|\d{6,8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{3})$/;

/** Yields a model's name in lower case, then the names with one more version suffix removed each time. */
export function* versionless(model: string): Generator<string> {
  let id = model.toLowerCase();
  for (;;) {
    yield id;
    const shorter = id.replace(VERSION, "");
    if (shorter === id) return;
    id = shorter;
  }
}

/**
 * A model's name as its vendor writes it. Removes what agents and clouds add: Claude Code's `[1m]`, the region and version of
 * Bedrock (`us.anthropic.claude-…-v1:0`), and the vendor before a slash. Names of other vendors and hosts are not removed.
 */
export function vendorName(model: string): string {
  const name = model
    .trim()
    .toLowerCase()
    .replace(/\[1m\]$/, "")
    .replace(/^(?:anthropic|openai|google|x-ai|xai|moonshot-ai|models)\//, "")
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\.(.+?)(?:-v\d+(?::\d+)?)?$/, "$1");
  return name.startsWith("claude-") ? name.replaceAll(".", "-") : name;
}
