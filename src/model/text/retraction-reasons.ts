import { codedTexts } from "./catalog.ts";

/**
 * Why turns, messages and parts are retracted, besides failures of the model. The page and the exports write "withdrawn" before
 * them.
 */
export const retractionReasons = {
  replaced_by_later_answer: "replaced by a later answer",
  retracted_by_refusal: "the model refused",
  retracted_by_user: "by the user",
  retracted_by_rewind: "rewound",
  retracted_by_rewind_to_prompt: "rewound to an earlier prompt",
  retracted_by_rewind_of_model: "rewound by the model",
  rolled_back: "Rolled back",
  retracted_by_undo: "undone",
  undone_by_user: "undone by the user",
  undone_in: ({ agent }: { agent: string }) => `undone in ${agent}`,
  removed_by: ({ agent }: { agent: string }) => `removed by ${agent}`,
  deleted_in: ({ agent }: { agent: string }) => `deleted in ${agent}`,
  branch_abandoned: "abandoned: another branch continues from an earlier entry",
  failed_and_sent_again: "the request failed and was sent again",
  step_restarted: "The step was restarted",
};

/** A text of `retractionReasons` with its code. */
export const retractionReason = codedTexts(retractionReasons);
