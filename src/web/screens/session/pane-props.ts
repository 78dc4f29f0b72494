/** Which session a pane shows, and what the address says of it. */
export interface PaneProps {
  session_id: string;
  /** What the address names in this session; empty in the pane beside. */
  fragment: string;
  /** Another number: what the fragment names is asked for again. */
  visit: number;
  /** The run shown beside this session. */
  beside: string | undefined;
  /** Texts to mark, from the address. */
  find: readonly string[];
  /** Set in the pane that is itself beside another session. */
  besideOf?: string;
}
