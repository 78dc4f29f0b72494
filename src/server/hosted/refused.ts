/** What a sender is told instead of being served; its status is an HTTP status. */
export class Refused extends Error {
  readonly status: 400 | 404 | 409 | 413 | 422 | 500 | 503;
  readonly code: string;
  readonly remedy: string | undefined;
  constructor(status: Refused["status"], code: string, message: string, remedy?: string) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** What nobody hears: who sent the body has gone before its end. */
export const CUT_OFF = new Refused(400, "cut_off", "The body was cut off.");
