/**
 * Returns the source with the one place that says `find` replaced. Line breaks, indentation and trailing commas do not
 * matter, so that a formatter cannot move the place away. Throws unless there is exactly one place: a list of edits that
 * has fallen behind the sources would plant nothing.
 */
export function replaceOnce(source: string, find: string, replace: string): string {
  const pattern = patternOf(find);
  const count = [...source.matchAll(pattern)].length;
  if (count !== 1) throw new Error(`an edit must fit in exactly one place, and this fits in ${count}: ${find}`);
  // A function, because `$` in a replacement text has a meaning of its own.
  return source.replace(pattern, () => replace);
}

function patternOf(find: string): RegExp {
  const escaped = find.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  const spaced = escaped.replaceAll(/\s+/g, String.raw`\s+`);
  const opened = spaced.replaceAll(/\\[([]/g, String.raw`$&\s*`);
  return new RegExp(
    opened.replaceAll(/\\[)\]]/g, String.raw`,?\s*$&`).replaceAll(/\\\.(?=[a-z])/g, String.raw`\s*$&`),
    "g",
  );
}
