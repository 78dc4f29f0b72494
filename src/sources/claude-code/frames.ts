/** What an agent's program wrote around a task: the task itself, and what stands around it. */
export interface FramedTask {
  task: string;
  /** The program's own words. */
  frame: string;
}

const FORK = /^<fork-boilerplate>\n?([\s\S]*?)\n?<\/fork-boilerplate>\s*(?:Your directive: ?)?/;
/** A section of a workflow's prompt: its head, and the lines behind that are indented by two spaces. */
const SECTION = /^\[Workflow harness[^\]\n]*\][^\n]*\n?((?:(?: {2}[^\n]*|[ \t]*)(?:\n|$))*)/;

/** The task in a text that a fork or a workflow's agent was started with; `undefined`: nothing stands around it. */
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
    const words = body.replace(/^ {2}/gm, "").trim();
    around.push(whole.slice(0, whole.length - body.length).trim());
    // A section before the task quotes the person who asked for the whole.
    if (task !== "") around.push(task);
    task = words;
    rest = rest.slice(whole.length);
  }
  if (rest.trim() !== "") {
    if (task !== "") around.push(task);
    task = rest.trim();
  }
  return task === "" ? undefined : { task, frame: around.join("\n\n") };
}
