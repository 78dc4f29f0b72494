import type { ReactNode } from "react";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { type CallView, type CardBodyProps, isRecord, list, oneLine, type ToolCard, text } from "./card.ts";
import { genericCard } from "./GenericCard.tsx";

interface Question {
  question: string;
  options: readonly string[];
  answer?: string;
}

/** A question of the agent to the user, with the answer. */
export const questionCard: ToolCard = {
  payloads: ["question"],
  kind: "question",
  summary: (view) => {
    const questions = questionsOf(view);
    const first = questions[0];
    // Another tool with the same name, whose arguments contain no question.
    if (first === undefined) return genericCard.summary(view);
    const answered = questions.filter((question) => question.answer !== undefined);
    const subject = first.question;
    const answer = answered.map((question) => question.answer).join(", ");
    return {
      label: t.cards.question,
      subject: (
        <>
          {visible(oneLine(subject), "prose")}
          {answer !== "" && <span className="subject-more"> → {visible(oneLine(answer, 120), "prose")}</span>}
        </>
      ),
      title: answer === "" ? subject : `${subject} → ${answer}`,
      figures: questions.length > 1 ? t.cards.answered(answered.length, questions.length) : undefined,
    };
  },
  Body: QuestionBody,
  shows: (view) => ({ input: questionsOf(view).length > 0 }),
};

function questionsOf({ extra, input }: CallView): Question[] {
  if (extra?.type === "question") return extra.questions;
  const several = list(input, "questions").filter(isRecord);
  const asked = several.length === 0 && text(input, "question") !== undefined ? [input] : several;
  return asked.map((question) => ({
    question: text(question, "question", "header") ?? "",
    options: list(question, "options").flatMap((option) =>
      typeof option === "string" ? option : isRecord(option) ? (text(option, "label") ?? []) : [],
    ),
  }));
}

function QuestionBody({ view }: CardBodyProps): ReactNode {
  return questionsOf(view).map((question, index) => (
    <div className="question" key={index}>
      <p>{visible(question.question, "prose")}</p>
      <ul className="card-list">
        {question.options.map((option, position) => (
          <li key={position} {...(option === question.answer ? { className: "chosen" } : {})}>
            {visible(option, "prose")}
            {option === question.answer && <span className="subject-more"> {t.request.chosen}</span>}
          </li>
        ))}
      </ul>
      {question.answer !== undefined && !question.options.includes(question.answer) && (
        <p>
          <span className="subject-more">{t.cards.answer} </span>
          {visible(question.answer, "prose")}
        </p>
      )}
    </div>
  ));
}
