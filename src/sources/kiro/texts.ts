/** Texts that Kiro CLI writes in place of a person or of the model. Source: `chat/mod.rs` in `aws/amazon-q-developer-cli`. */

/** What Kiro writes as the model's answer when the user stopped it. */
export const isInterruptText = (text: string): boolean =>
  text === "Response was interrupted by the user" ||
  text === "Tool uses were interrupted, waiting for the next user prompt";

/** What Kiro writes as the prompt when the user stopped running calls. */
export const STOPPED_CALLS = "The user interrupted the tool execution.";

/** What Kiro writes as the prompt when the user answered a request for permission with no. */
export const REFUSED_CALLS =
  "I deny this tool request. Ask a follow up question clarifying the expected action";

/** Other prompts of Kiro: a session continued without a prompt, an answer that took too long, a history that was cleared. */
const OWN_PROMPTS = new Set([
  "In a few words, summarize our conversation so far.",
  "You took too long to respond - try to split up the work into smaller steps.",
  "The conversation history has overflowed, clearing state",
]);
export const isOwnPrompt = (text: string): boolean => OWN_PROMPTS.has(text);

/** The messages that the user sent while the agent worked, in the text with which Kiro gives them to the model. */
export function steeringIn(text: string): string[] | undefined {
  if (!text.startsWith("[LIVE STEERING")) return undefined;
  const messages = [...text.matchAll(/<user_message id="[^"]*">\n([\s\S]*?)\n<\/user_message>/g)];
  return messages.length === 0 ? undefined : messages.map(([, message = ""]) => message);
}
