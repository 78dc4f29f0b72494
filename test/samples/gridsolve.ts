import { CodexSession, exec } from "./codex.ts";
import { tideChart } from "./picture.ts";

const cwd = "/home/mara/gridsolve";
const ESC = "\u001b[";
const red = (text: string) => `${ESC}31m${text}${ESC}0m`;
const green = (text: string) => `${ESC}32m${text}${ESC}0m`;

/** Reasoning, a plan, parallel commands, a patch, a web search, an image; a failing test, then fixed. */
export function lineSearch(): CodexSession {
  const session = new CodexSession({
    id: "01a1f6c2-3d40-7b11-8e52-6c09f7a4d810",
    cwd,
    git_branch: "main",
    start: "2026-11-17T19:30:02.118Z",
  });
  session.prompt(
    "The Newton solver stalls on the 118 bus case after my change to the line search. Plan first, then fix it.",
  );
  session.step({
    think:
      "**Reproducing the stall**\n\nThe user says that the solver stalls since a change to the line search. I want the iteration log, the change itself and the code side by side before I propose anything.",
    text: "I'll look at the change, the code and the iteration log side by side.",
    calls: [
      exec(
        "git log -3 --oneline -- gridsolve/newton.py",
        "c41d9aa Backtrack with Armijo instead of halving\n7e0b6f1 Sparse Jacobian\n19a2c33 Read MATPOWER cases\n",
        0,
        0.05,
      ),
      exec(
        "sed -n '1,60p' gridsolve/newton.py",
        'def armijo(residual, x, step, slope, c=1e-4, shrink=0.5):\n    """The largest step that decreases the merit enough."""\n    alpha, start = 1.0, merit(residual(x))\n    while merit(residual(x + alpha * step)) > start + c * alpha * slope:\n        alpha *= shrink\n        if alpha < 1e-8:\n            break\n    return alpha\n\n\ndef merit(r):\n    return np.linalg.norm(r)\n',
        0,
        0.04,
      ),
      exec(
        "python -m gridsolve cases/case118.m --trace",
        `it  |r|        alpha\n 1  4.71e+00   1.0e+00\n 2  3.02e-01   1.0e+00\n 3  2.99e-01   ${red("7.5e-09")}\n 4  2.99e-01   ${red("7.5e-09")}\n${red("stalled after 4 iterations")}\n`,
        1,
        1.9,
      ),
    ],
    tokens: [12_410, 9_800, 402, 211],
  });
  session.step({
    think:
      "**Merit and slope disagree**\n\n`merit` is the norm, while the slope is computed as `r·J·step`, which is the derivative of half the *squared* norm. Near the solution the norm is below 1, so the slope of the squared merit is too shallow or too steep by a factor |r|… Armijo with the wrong slope refuses any step.",
    search: "Armijo line search Newton merit function half squared norm slope -2 phi",
    wait: 1_100,
    tokens: [14_020, 12_100, 288, 190],
  });
  session.plan(
    "1. Make `merit` half the squared norm, so that it fits the slope `r·J·step`.\n2. Return the slope from one place, beside `merit`, so that they cannot drift apart again.\n3. A test on the 118 bus case: under 8 iterations, no step below 1e-3.",
  );
  session.end("Plan proposed.");
  session.now += 31_000;
  session.prompt("Implement the plan.");
  session.step({
    think:
      "**Test first**\n\nThe test should fail on the present code for the reason given, not because of an import.",
    text: "The test first, so that it fails for the right reason.",
    calls: [
      {
        kind: "patch",
        patch:
          '*** Begin Patch\n*** Add File: tests/test_line_search.py\n+from gridsolve import load, solve\n+\n+\n+def test_case118_converges_without_tiny_steps():\n+    result = solve(load("cases/case118.m"))\n+    assert result.iterations < 8\n+    assert min(result.alphas) > 1e-3\n*** End Patch',
        changes: {
          [`${cwd}/tests/test_line_search.py`]: {
            type: "add",
            content:
              'from gridsolve import load, solve\n\n\ndef test_case118_converges_without_tiny_steps():\n    result = solve(load("cases/case118.m"))\n    assert result.iterations < 8\n    assert min(result.alphas) > 1e-3\n',
          },
        },
        output: "Success. Updated the following files:\nA tests/test_line_search.py\n",
      },
    ],
  });
  session.step({
    calls: [
      exec(
        "python -m pytest -q --color=yes tests/test_line_search.py",
        `${red("F")}                                                                        [100%]\n=================================== FAILURES ===================================\n${red("E       assert 7.450580596923828e-09 > 0.001")}\ntests/test_line_search.py:7: AssertionError\n${red("1 failed")} in 2.14s\n`,
        1,
        2.6,
      ),
    ],
  });
  session.step({
    think: "",
    text: "It fails on the tiny step, as it should. Now the merit and its slope, from one place.",
    calls: [
      {
        kind: "patch",
        patch:
          '*** Begin Patch\n*** Update File: gridsolve/newton.py\n@@\n-def armijo(residual, x, step, slope, c=1e-4, shrink=0.5):\n+def armijo(residual, x, step, jacobian, c=1e-4, shrink=0.5):\n     """The largest step that decreases the merit enough."""\n-    alpha, start = 1.0, merit(residual(x))\n+    start, slope = merit_and_slope(residual(x), jacobian, step)\n+    alpha = 1.0\n@@\n-def merit(r):\n-    return np.linalg.norm(r)\n+def merit(r):\n+    return 0.5 * float(r @ r)\n+\n+\n+def merit_and_slope(r, jacobian, step):\n+    return merit(r), float(r @ (jacobian @ step))\n*** End Patch',
        changes: {
          [`${cwd}/gridsolve/newton.py`]: {
            type: "update",
            unified_diff:
              '@@ -1,4 +1,5 @@\n-def armijo(residual, x, step, slope, c=1e-4, shrink=0.5):\n+def armijo(residual, x, step, jacobian, c=1e-4, shrink=0.5):\n     """The largest step that decreases the merit enough."""\n-    alpha, start = 1.0, merit(residual(x))\n+    start, slope = merit_and_slope(residual(x), jacobian, step)\n+    alpha = 1.0\n     while merit(residual(x + alpha * step)) > start + c * alpha * slope:\n@@ -11,2 +12,6 @@\n def merit(r):\n-    return np.linalg.norm(r)\n+    return 0.5 * float(r @ r)\n+\n+\n+def merit_and_slope(r, jacobian, step):\n+    return merit(r), float(r @ (jacobian @ step))\n',
            move_path: null,
          },
        },
        output: "Success. Updated the following files:\nM gridsolve/newton.py\n",
      },
    ],
    tokens: [17_930, 16_200, 611, 302],
  });
  const { base64 } = tideChart(false);
  session.step({
    calls: [
      exec(
        "python -m pytest -q --color=yes",
        `${green("......................................................")}                   [100%]\n${green("54 passed")} in 9.87s\n`,
        0,
        4.2,
      ),
      exec(
        "python -m gridsolve cases/case118.m --trace --plot /tmp/residual.png",
        `it  |r|        alpha\n 1  4.71e+00   1.0e+00\n 2  3.02e-01   1.0e+00\n 3  8.14e-03   1.0e+00\n 4  6.20e-06   1.0e+00\n 5  4.11e-12   1.0e+00\n${green("converged")} in 5 iterations\n`,
        0,
        2.1,
      ),
      {
        kind: "view_image",
        path: "/tmp/residual.png",
        output: [{ type: "input_image", image_url: `data:image/png;base64,${base64}`, detail: "original" }],
      },
    ],
  });
  session.step({
    think: "**Done**\n\nQuadratic convergence from the third iteration; all 54 tests pass.",
    text: "Fixed: five full steps instead of a stall, and the convergence is quadratic again.\n\n- `merit` was the norm, while the slope belonged to **half the squared norm**. Below |r| = 1 the Armijo test then refused every step.\n- Both now come from `merit_and_slope()`.\n- `tests/test_line_search.py` fails on the old code with `alpha = 7.5e-09` and passes now.",
    final: true,
    tokens: [19_480, 17_900, 240, 64],
  });
  session.end("Fixed: five full steps instead of a stall.");
  return session;
}

/** A command that a person stops, and a turn that ends in an error. */
export function slowBenchmark(): CodexSession {
  const session = new CodexSession({
    id: "01a1f1a9-77c0-7e20-9a04-2f8b6d13c5e9",
    cwd,
    git_branch: "bench",
    start: "2026-11-16T20:11:40.630Z",
  });
  session.prompt("Benchmark the sparse Jacobian against the dense one on all cases.");
  session.step({
    think:
      "**Sizing the benchmark**\n\nThe largest case has 9,241 buses; dense, its Jacobian alone is 2.7 GB. I'd start with the small ones, but the user said all.",
    text: "Running both variants over every case.",
    calls: [exec("ls cases | wc -l", "14\n", 0, 0.03), exec("python bench/jacobian.py --all", "", 0, 48)],
    interrupt: true,
  });
  session.now += 9_000;
  session.prompt("Too slow, the dense one swaps. Only the cases up to 300 buses, please.");
  session.step({
    text: "Only the small cases, then.",
    calls: [
      exec(
        "python bench/jacobian.py --max-buses 300",
        `case      buses   dense     sparse\ncase14       14   0.4 ms    ${green("0.3 ms")}\ncase57       57   3.1 ms    ${green("0.9 ms")}\ncase118     118  14.8 ms    ${green("1.7 ms")}\ncase300     300  201 ms     ${green("4.6 ms")}\n`,
        0,
        6.4,
      ),
    ],
  });
  session.now += 4_000;
  session.end(
    null,
    "stream disconnected before completion: the server closed the connection (retry limit reached)",
  );
  return session;
}
