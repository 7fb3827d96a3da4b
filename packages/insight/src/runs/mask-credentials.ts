const MASK = "…";

/** Words that name a secret in a variable, an option or a query parameter. */
const SECRET_WORD =
  "(?:password|passwd|passphrase|pwd|secret|token|credentials?|api[-_]?key|access[-_]?key|private[-_]?key|signature)";
const VALUE = `(?:"[^"]*"|'[^']*'|[^\\s&;|'"]+)`;

/** `PGPASSWORD=x`, `?password=x`, `--api-key=x`, `&sig=x`. */
const ASSIGNMENT = new RegExp(`((?:\\b[\\w.-]*${SECRET_WORD}[\\w.-]*|[?&]sig)=)${VALUE}`, "gi");
/** `"password": "x"`. Only in commands: what is printed may be JSON with such a field. */
const FIELD = new RegExp(`(["'][\\w.-]*${SECRET_WORD}[\\w.-]*["']\\s*:\\s*)${VALUE}`, "gi");
/** `--password x`. Only in commands: in a sentence, other words may follow the option's name. */
const OPTION = new RegExp(`(--?[\\w-]*${SECRET_WORD}[\\w-]*\\s+)(?!-)${VALUE}`, "gi");
/** `Authorization: Bearer x`, `X-Api-Key: x`, `Cookie: x`. */
const HEADER = /\b((?:[\w-]*authorization|x-api-key|[\w-]*token|cookie)\s*:\s*)[^'"\n]+/gi;
/** `curl -u user:x`, `curl --cookie x`, `sshpass -p x`, `redis-cli -a x`, `mysql -px`. */
const LOGIN = /(\s(?:-u|--user|--proxy-user)(?:\s+|=)?["']?[^\s'":]+:)[^\s'"]+/g;
const SHORT_OPTION =
  /\b(sshpass\s+-p\s*|redis-cli\s(?:[^|;&\n]*\s)?-a\s+|curl\s(?:[^|;&\n]*\s)?(?:-b\s+|--cookie[\s=]+)|(?:mysql|mariadb)\S*\s(?:[^|;&\n]*\s)?-p)(?=\S)(?:"[^"]*"|'[^']*'|\S+)/g;

/** The addresses of stores, up to an `@`: in the same word if it has one, else on the same line. */
const STORE_LOGIN = /\b((?:postgres(?:ql)?|etcds?):\/{0,3}(?:[^\s'":@/]*:(?=[^\n]*@))?)(?:[^\s'"]*@|[^\n]*@)/gi;
const WORD = /[^\s'"`<>|]+/g;

/**
 * Mask the credentials in `text`: the login of a URL, and values that are named as secrets. Everything printed goes
 * through this. It hides too much rather than too little.
 */
export function maskCredentials(text: string): string {
  return text.replaceAll(STORE_LOGIN, `$1${MASK}@`).replaceAll(WORD, maskLogin).replaceAll(ASSIGNMENT, `$1${MASK}`);
}

/** Mask a shell command, where more can be recognized as a secret. */
export function maskCommand(command: string): string {
  return maskCredentials(command)
    .replaceAll(FIELD, `$1${MASK}`)
    .replaceAll(OPTION, `$1${MASK}`)
    .replaceAll(HEADER, `$1${MASK}`)
    .replaceAll(LOGIN, `$1${MASK}`)
    .replaceAll(SHORT_OPTION, `$1${MASK}`);
}

/** A value as JSON, with every string in it masked. */
export function maskedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? maskCredentials(inner) : inner));
}

/** Mask what comes before the last `@` of a word: `scheme://user:…@host`, `user:…@host`, `scheme://…@host`. */
function maskLogin(word: string): string {
  const end = word.lastIndexOf("@");
  if (end === -1) return word;
  const scheme =
    /[a-z][a-z0-9+.-]*:\/\//i.exec(word) ?? /[a-z][a-z0-9+.-]*:\/?(?=[^:@]*:[^@]*@)/i.exec(word) ?? undefined;
  const start = scheme === undefined ? 0 : scheme.index + scheme[0].length;
  if (start > end) return word;
  // An `@` in the path of a web address is not a login.
  if (/^https?:/i.test(scheme?.[0] ?? "") && /^[\w.-]+(?::\d+)?\//.test(word.slice(start))) return word;
  const colon = word.indexOf(":", start);
  const hasPassword = colon !== -1 && colon < end;
  if (!hasPassword && scheme?.[0].endsWith("//") !== true) return word;
  return `${word.slice(0, hasPassword ? colon + 1 : start)}${MASK}${word.slice(end)}`;
}
