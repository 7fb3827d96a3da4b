// STYLE.md asks for plain English with American spelling. These are the words that we kept writing instead.
import type { Finding } from "./finding.ts";
import type { SourceText } from "./tree.ts";

/** What not to write, and what to write instead. `Cancelled` is a name of the protocol and has a capital. */
const WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:[Ss]ome|[Aa]ny|[Ee]very|[Nn]o)body\b/, "caller, holder, worker, operator"],
  [/\b[Ww]ho(?:m|so)?ever\b/, "the caller, holder or worker that"],
  [/\bsa(?:id|ys?) aloud\b/, "printed, logged"],
  [/\bof unknown fate\b/, "with an unknown outcome"],
  [/\b(?:is|are|was|were|be) told\b(?! apart)/, "learns, gets, is reported, is notified"],
  [/\b(?:[Hh]ears?|heard) (?:of|that|the|its|about|what)\b/, "learns, receives, gets"],
  [/\b(?:[Tt]hose|[Tt]he one|[Aa]ll) who\b/, "workers that, callers that"],
  [/\bbeliev(?:e|es|ed) to\b/, "believes that it"],
  [/\bcom(?:e|es) to (?:its|their) end\b/, "ends"],
  [/`undefined` where\b/, "`undefined` if"],
  [/\b[Ww]here none is \w+ed\b/, "if none is, by default"],
  [/\bwhat became of\b/, "the outcome of"],
  [/\band the like\b/, "such as"],
  [/\bfor ever\b/, "forever"],
  [/\bwhere it is left out\b/, "by default"],
  [/\b(?:[Bb]ehavi|[Cc]ol|[Ff]av|[Hh]on|[Nn]eighb)our/, "the American spelling, -or"],
  [
    /\b(?:[Aa]naly|[Ii]nitial|[Mm]inim|[Mm]axim|[Nn]ormal|[Oo]ptim|[Oo]rgan|[Rr]andom|[Rr]ecogn|[Ss]erial|[Ss]ummar|[Ss]ynchron|[Uu]til)is(?:e[ds]?|ing|ations?)\b/,
    "the American spelling, -ize",
  ],
  [/\b(?:cancelled|(?:[Ll]abel|[Mm]odel|[Tt]ravel)l(?:ed|ing))\b/, "the American spelling, one l"],
  [/\b(?:centre|licence|[Jj]udgement|whilst|amongst|learnt|spelt)\b/, "the American spelling"],
];

/** Findings in one file. Words in backquotes are names, such as those of tests in docs/invariants.md. */
export function oddWords({ file, text }: SourceText): Finding[] {
  const isMarkdown = file.endsWith(".md");
  return text.split("\n").flatMap((content, index) => {
    const prose = isMarkdown ? content.replaceAll(/`[^`]*`/g, "") : content;
    return WORDS.flatMap(([pattern, instead]) => {
      const found = pattern.exec(prose);
      return found === null ? [] : [{ file, line: index + 1, what: `"${found[0]}": write ${instead}` }];
    });
  });
}
