// What the process of `walkInChild` prints.

/** It has got a little further. */
export const DOT = ".";
export const SOUND_MARK = "sound";
export const DAMAGED_MARK = "damaged";
/** It could not tell; the code of the failure follows. */
export const CODE_MARK = "code ";
