import { bash, ClaudeSession, glob, grep, read, type Tool } from "./claude-code.ts";

const cwd = "/home/mara/kiln";
const at = (path: string) => `${cwd}/${path}`;
const files = (...pairs: [string, string][]): Tool[] =>
  pairs.map(([path, content]) => read(at(path), content));

/**
 * A turn of discovery: eleven model calls, thirty tool calls, and four sentences that only make sense between the
 * batches that they announce.
 */
export function discovery(): ClaudeSession {
  const session = new ClaudeSession({
    id: "91c3a7d8-2b64-4e0f-8f19-c75d10e4b6a0",
    cwd,
    git_branch: "main",
    start: "2026-11-18T06:14:50.402Z",
  });
  session.begin();
  session.prompt(
    "People ask for retries per task in the DSL. Find out what that touches and file an issue that someone could start from. Don't change any code.",
  );
  session.step({
    think: "Discovery only: the schema of the DSL, the types of the API, then where a task is shown.",
    text: "Let me read the key files to understand the DSL schema and API types.",
    tools: [
      glob("src/dsl/**/*.ts", ["src/dsl/schema.ts", "src/dsl/parse.ts", "src/dsl/defaults.ts"]),
      glob("src/api/**/*.ts", ["src/api/types.ts", "src/api/tasks.ts", "src/api/router.ts"]),
      glob("src/runner/*.ts", ["src/runner/run.ts", "src/runner/queue.ts", "src/runner/retry.ts"]),
      glob("docs/*.md", ["docs/dsl.md", "docs/runner.md"]),
    ],
    finish: [1, 0, 3, 2],
    tokens: [4, 14_002, 190],
  });
  session.step({
    tools: files(
      [
        "src/dsl/schema.ts",
        'export const task = z.object({\n  name: z.string(),\n  run: z.string(),\n  needs: z.array(z.string()).default([]),\n  timeout: duration.default("10m"),\n});',
      ],
      [
        "src/dsl/parse.ts",
        "export function parse(text: string): Pipeline {\n  return pipeline.parse(load(text));\n}",
      ],
      ["src/dsl/defaults.ts", 'export const defaults = { timeout: "10m", shell: "bash" } as const;'],
      [
        "src/api/types.ts",
        'export interface TaskRow {\n  id: string;\n  name: string;\n  state: "waiting" | "running" | "done" | "failed";\n  attempt: number;\n}',
      ],
      [
        "src/runner/retry.ts",
        "/** Retries the transport, not the task. */\nexport async function withRetry<T>(work: () => Promise<T>, attempts = 3): Promise<T> {",
      ],
    ),
    tokens: [3, 15_210, 240],
  });
  session.step({
    think:
      "`TaskRow.attempt` exists already, and nothing sets it? And `withRetry` retries the transport, not the task: the name will mislead whoever starts this.",
    tools: [
      grep("attempt", `${cwd}/src`, [
        "src/api/types.ts:5:  attempt: number;",
        "src/api/tasks.ts:33:    attempt: 1,",
        "src/web/TaskCard.tsx:18:  {task.attempt > 1 && <Badge>attempt {task.attempt}</Badge>}",
      ]),
      grep("withRetry\\(", `${cwd}/src`, [
        "src/runner/queue.ts:21:  const lease = await withRetry(() => take(queue));",
      ]),
      grep("timeout", `${cwd}/src/runner`, [
        "src/runner/run.ts:27:  const timer = setTimeout(() => child.kill(), ms(task.timeout));",
      ]),
    ],
    tokens: [5, 17_140, 204],
  });
  session.title("File an issue: retries per task");
  session.step({
    text: "Let me read the existing task screen and the router to understand the current task UI surface.",
    tools: files(
      [
        "src/web/TaskCard.tsx",
        "export function TaskCard({ task }: { task: TaskRow }) {\n  return (\n    <li data-state={task.state}>\n      {task.name}\n      {task.attempt > 1 && <Badge>attempt {task.attempt}</Badge>}\n    </li>\n  );\n}",
      ],
      [
        "src/web/TaskScreen.tsx",
        "export function TaskScreen() {\n  const tasks = useTasks();\n  return <ol>{tasks.map((task) => <TaskCard key={task.id} task={task} />)}</ol>;\n}",
      ],
      [
        "src/api/router.ts",
        'router.get("/runs/:run/tasks", listTasks);\nrouter.post("/runs/:run/tasks/:task/restart", restartTask);',
      ],
      [
        "src/api/tasks.ts",
        "export function restartTask(run: string, task: string) {\n  // A restart is a new run of one task: its row is replaced, so the first attempt's log is gone.\n  return queue.put({ run, task, attempt: 1 });\n}",
      ],
    ),
    finish: [2, 0, 1, 3],
    tokens: [2, 18_320, 233],
  });
  session.step({
    tools: [
      grep("restartTask|/restart", `${cwd}/src`, [
        'src/api/router.ts:2:router.post("/runs/:run/tasks/:task/restart", restartTask);',
        "src/web/TaskMenu.tsx:11:  const restart = useMutation(api.restartTask);",
      ]),
      grep('state: "failed"', `${cwd}/src`, [
        'src/runner/run.ts:48:  await rows.set(task.id, { state: "failed" });',
      ]),
      grep("retries|retry:", `${cwd}/docs`, []),
    ],
    tokens: [3, 19_840, 171],
  });
  session.step({
    think:
      "So the counter has a place on the screen, a restart throws the first log away, and the documentation says nothing. The runner decides in one place, run.ts:48. I need that file, the queue and the log store.",
    tools: files(
      [
        "src/runner/run.ts",
        '  if (code !== 0) {\n    await rows.set(task.id, { state: "failed" });\n    await cancelDependants(task);\n  }',
      ],
      [
        "src/runner/queue.ts",
        "export async function take(queue: Queue): Promise<Lease> {\n  return queue.lease({ seconds: 30 });\n}",
      ],
      [
        "src/logs/store.ts",
        "export const logPath = (run: string, task: string) => join(root, run, task + '.log');",
      ],
    ),
    tokens: [4, 21_007, 188],
  });
  session.step({
    think:
      "`logPath` has no attempt in it. That is the hidden cost: without it a retry overwrites the log of the failure that one wants to see.",
    tools: files(
      ["src/web/LogView.tsx", "const { data } = useLog(run, task);"],
      ["test/runner/run.test.ts", 'it("cancels what needs a failed task", async () => {'],
    ),
    tokens: [2, 22_150, 140],
  });
  session.step({
    tools: [
      bash(
        "git log --oneline -5 -- src/runner",
        "Recent work on the runner",
        "9f0c1d2 Cancel dependants of a failed task\n41be77a Lease instead of lock\n0a9d3e1 Time out by the DSL's duration",
        90,
      ),
      bash(
        "rg -c 'it\\(' test/runner",
        "Count the runner's tests",
        "test/runner/run.test.ts:14\ntest/runner/queue.test.ts:9",
        110,
      ),
    ],
    tokens: [3, 23_020, 131],
  });
  session.step({
    tools: files(
      [
        "docs/dsl.md",
        "## Task\n\n| key | meaning | default |\n|---|---|---|\n| `run` | the command | |\n| `needs` | names of tasks | none |\n| `timeout` | longest duration | `10m` |",
      ],
      ["docs/runner.md", "A task that fails cancels all that need it."],
    ),
    tokens: [2, 23_910, 90],
  });
  session.step({
    think:
      "I have the schema, the one place that decides, the log path, the screen and the documentation. Enough to write it.",
    text: "Now I have a complete picture. Let me create the implementation task based on this discovery.",
    tools: [
      mcp(
        "mcp__issues__create",
        { title: "Retries per task in the DSL", labels: ["dsl", "runner"], body: ISSUE },
        '{"number":11,"url":"https://issues.kiln.example/11"}',
      ),
      mcp("mcp__issues__link", { issue: 11, relates_to: 4, kind: "unblocks" }, '{"ok":true}'),
    ],
    tokens: [4, 24_400, 520],
  });
  session.step({
    text: "Done. I've created #11 with the six places that it touches, in the order in which I'd change them, and linked it to #4. The one surprise: logs are stored per task, not per attempt, so without a change there a retry overwrites the very log that one wants to read.",
    tokens: [3, 25_010, 96],
  });
  session.end();
  session.lastPrompt("People ask for retries per task in the DSL.");
  return session;
}

const ISSUE = `## What
\`retries: 2\` on a task: run it again when its command fails, at most that often.

## Where
1. \`src/dsl/schema.ts\`: \`retries: z.number().int().min(0).max(10).default(0)\`
2. \`src/runner/run.ts:48\`: the only place that decides that a task has failed
3. \`src/logs/store.ts\`: the path needs the attempt, or a retry overwrites the failure's log
4. \`src/api/tasks.ts:33\`: sets \`attempt: 1\` always
5. \`src/web/TaskCard.tsx:18\`: shows the attempt already
6. \`docs/dsl.md\`, \`docs/runner.md\`

## Careful
\`withRetry()\` in \`src/runner/retry.ts\` retries the transport, not the task. Rename it first.`;

function mcp(name: string, input: Record<string, unknown>, text: string): Tool {
  const content = [{ type: "text", text }];
  return { name, input, takes: 640, content, structured: content };
}
