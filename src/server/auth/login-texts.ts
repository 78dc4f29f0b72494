/** The languages of the login pages, by the value of their `lang` attribute. */
export type LoginLanguage = "en" | "zh-CN";

/** The language that a browser prefers. Login pages cannot know the user's setting before they are shown. */
export function languageOf(accept_language: string | undefined): LoginLanguage {
  const [first] = (accept_language ?? "").split(",").filter((name) => /^\s*(?:en|zh)\b/i.test(name));
  return /^\s*zh/i.test(first ?? "") ? "zh-CN" : "en";
}

const en = {
  not_signed_in: "This browser is not signed in",
  opens_from_link:
    "Verbatim shows what agents did on this machine, so it opens only from the link that it printed when it started.",
  link_used: "This link was already used or has expired",
  get_link: "To get a new link, run this in the folder of Verbatim:",
  link_works_once: "The link works once. The browser that opens it stays signed in.",
  password: "Password",
  enter: "Enter",
  continue: "Continue to Verbatim",
};

export const LOGIN_TEXTS: Readonly<Record<LoginLanguage, typeof en>> = {
  en,
  "zh-CN": {
    not_signed_in: "此浏览器尚未登录",
    opens_from_link: "Verbatim 显示智能体在这台机器上做了什么，因此只能通过它启动时输出的链接打开。",
    link_used: "此链接已被使用或已过期",
    get_link: "要获取新链接，请在 Verbatim 的目录中运行：",
    link_works_once: "链接只能使用一次。打开它的浏览器会保持登录状态。",
    password: "密码",
    enter: "进入",
    continue: "继续打开 Verbatim",
  },
};

/** What the login form says in Chinese, by the codes of errors, which the daemon sends with English texts. */
export const CHINESE_ERRORS: Readonly<Record<string, string>> = {
  no_answer: "Verbatim 没有响应。",
  password_wrong: "密码错误。",
  too_many_logins: "登录失败次数过多。",
  wait_a_minute: "请等待一分钟。",
};
