/**
 * Largest byte field that a decoder will look at.
 *
 * Far above what a record may hold, whose own limits are checked after it: this
 * one only distinguishes bytes that are no length from a length that is too large.
 */
export const MAX_FIELD_SIZE = 1 << 20;

/** Bytes in front of every blob: two of the version and one of the kind. */
export const HEADER_SIZE = 3;

/** The size of the checksum at the end of every blob since version 2. */
export const CHECKSUM_SIZE = 4;

/** Bytes of one entry in a shard's log. */
export const OP_SIZE = 26;
