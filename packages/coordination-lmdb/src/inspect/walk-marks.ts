// What the process of `walkInChild` prints.

/** Progress. */
export const DOT = ".";
export const SOUND_MARK = "sound";
export const DAMAGED_MARK = "damaged";
/** The check itself failed; the code of the failure follows. */
export const CODE_MARK = "code ";
