import type { PiState } from "../pi/state.ts";

/** State of an oh-my-pi session between records. */
export interface OhMyPiState extends PiState {
  /** The title before the header, which may be cut. */
  title?: string;
  /** Present for a sub-agent. */
  run?: {
    /** The session's id in the group: that of the top session. */
    group: string;
    key: string;
    name: string;
    isDirect: boolean;
    /** When it started, in milliseconds. */
    at: number;
    prompt?: string;
  };
}
