// The first byte of every element. The values are FoundationDB's: docs/reference/wire-format.md.
export const NULL = 0x00;
export const BYTES = 0x01;
export const STRING = 0x02;
export const NESTED = 0x05;
/** An integer of n bytes has this code plus n, or minus n if it is negative. */
export const ZERO = 0x14;
export const DOUBLE = 0x21;
export const FALSE = 0x26;
export const TRUE = 0x27;
export const UUID = 0x30;

/** Bytes of a UUID. */
export const UUID_SIZE = 16;

/** Ends a string, bytes or a nested tuple. */
export const TERMINATOR = 0x00;
/** After a zero byte: the zero is part of the content, or a null of the nested tuple, and not a terminator. */
export const ESCAPE = 0xff;
