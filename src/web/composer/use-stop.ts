import { useCallback, useEffect, useState } from "react";
import { apiOf } from "../api/api.ts";
import { useClient } from "../app/store.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";

/** Time within which Esc must be pressed again, in milliseconds. */
const ARMED_MS = 1_500;

/** Stops an agent: with the button, or by pressing Esc twice. */
export interface Stop {
  /** Esc was pressed once. */
  readonly armed: boolean;
  /** The daemon was asked to stop the agent, which is still working. */
  readonly stopping: boolean;
  readonly problem: string | undefined;
  stop(): void;
  /** Handles Esc. Returns whether it had an effect. */
  escape(): boolean;
}

/** `turn_id`: the turn on screen. No other turn is stopped. */
export function useStop(session_id: string, working: boolean, turn_id: string | undefined): Stop {
  const api = apiOf(useClient());
  const [armed, setArmed] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), ARMED_MS);
    return () => clearTimeout(timer);
  }, [armed]);
  // Each turn needs its own request.
  const turn = working ? turn_id : "";
  useEffect(() => {
    setArmed(false);
    setStopping(false);
    setProblem(undefined);
  }, [turn]);

  const stop = useCallback(() => {
    setArmed(false);
    setStopping(true);
    setProblem(undefined);
    void api.stop(session_id, turn_id === undefined ? {} : { turn_id }).then((reply) => {
      if (reply.ok) return;
      setStopping(false);
      setProblem(t.composer.notStopped(failureText(reply.failure)));
    });
  }, [api, session_id, turn_id]);

  return {
    armed,
    stopping,
    problem,
    stop,
    escape() {
      if (!working) return false;
      if (armed) stop();
      else setArmed(true);
      return true;
    },
  };
}
