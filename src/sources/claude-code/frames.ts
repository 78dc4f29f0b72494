/** A task, and the text that the agent's program wrote around it. */
export interface FramedTask {
  task: string;
  /** The program's own text. */
  frame: string;
}

const FORK = /^<fork-boilerplate>\n?([\s\S]*?)\n?<\/fork-boilerplate>\s*(?:Your directive: ?)?/;
/** A section of a workflow's prompt: its heading, and the following lines, which are indented by two spaces. */
const SECTION = /^\[Workflow harness[^\]\n]*\][^\n]*\n?((?:(?: {2}[^\n]*|[ \t]*)(?:\n|$))*)/;

/** Extracts the task from the first text of a fork or of a workflow's agent; `undefined`: there is no text around it. */
export function framedTask(text: string): FramedTask | undefined {
  const fork = FORK.exec(text);
  if (fork !== null) {
    const task = text.slice(fork[0].length).trim();
    return task === "" ? undefined : { task, frame: (fork[1] ?? "").trim() };
  }
  if (!text.startsWith("[Workflow harness")) return undefined;
  let rest = text;
  let task = "";
  const around: string[] = [];
  for (let found = SECTION.exec(rest); found !== null && found[0] !== ""; found = SECTION.exec(rest)) {
    const [whole, body = ""] = found;
    const content = body.replace(/^ {2}/gm, "").trim();
    around.push(whole.slice(0, whole.length - body.length).trim());
    // A section before the task quotes the person's request.
    if (task !== "") around.push(task);
    task = content;
    rest = rest.slice(whole.length);
  }
  if (rest.trim() !== "") {
    if (task !== "") around.push(task);
    task = rest.trim();
  }
  return task === "" ? undefined : { task, frame: around.join("\n\n") };
}
