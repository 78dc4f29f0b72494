/** The session of a pane, and what the address says about it. */
export interface PaneProps {
  session_id: string;
  /** The fragment of the address. Empty in the pane beside another session. */
  fragment: string;
  /** Changes when the user navigates to the fragment's target again. */
  visit: number;
  /** The run shown beside this session. */
  beside: string | undefined;
  /** Texts to mark, from the address. */
  find: readonly string[];
  /** In the pane beside another session: the id of that session. */
  besideOf?: string;
}
