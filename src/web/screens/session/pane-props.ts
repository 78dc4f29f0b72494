/** The session of a pane, and the pane's part of the address. */
export interface PaneProps {
  session_id: string;
  /** What the address names in this session; empty in the pane beside. */
  fragment: string;
  /** Changes when the fragment's target is requested again. */
  visit: number;
  /** The run shown beside this session. */
  beside: string | undefined;
  /** Texts to mark, from the address. */
  find: readonly string[];
  /** Set in the pane that is itself beside another session. */
  besideOf?: string;
}
