// The decoders of manifest rows, hints and metadata, and the hint of a child.
import type { Target } from "../mutant.ts";

export const HINT_TARGETS: readonly Target[] = [
  {
    name: "decodeManifestRowKey",
    file: "keys/manifest-row-key.ts",
    tests: ["keys/manifest-row-key.test.ts"],
    edits: [
      { find: "if (key.length !== ManifestRowKey.ENCODED_LEN) return undefined;", replace: "" },
      { find: "key.length !== ManifestRowKey.ENCODED_LEN", replace: "key.length < ManifestRowKey.ENCODED_LEN" },
      { find: "key.length !== ManifestRowKey.ENCODED_LEN", replace: "key.length > ManifestRowKey.ENCODED_LEN" },
      { find: "readU64(key, 0), row", replace: "readU64(key, 1), row" },
      { find: "row: readU64(key, 8)", replace: "row: readU64(key, 7)" },
      {
        find: "manifestId: readU64(key, 0), row: readU64(key, 8)",
        replace: "manifestId: readU64(key, 8), row: readU64(key, 0)",
      },
      { find: "static readonly ENCODED_LEN: number = 16;", replace: "static readonly ENCODED_LEN: number = 17;" },
      { find: "out.words.setBigUint64(8, this.row);", replace: "out.words.setBigUint64(8, this.row, true);" },
      { find: 'assertBytes(key, "key");', replace: "" },
    ],
  },
  {
    name: "readU64",
    file: "keys/u64-bytes.ts",
    tests: ["keys/manifest-row-key.test.ts", "hints/shard-hint.test.ts"],
    edits: [
      { find: "  return readI32(bytes, offset) >>> 0;", replace: "  return readI32(bytes, offset);" },
      {
        find: "joinU64(readI32(bytes, offset), readI32(bytes, offset + 4))",
        replace: "joinU64(readI32(bytes, offset + 4), readI32(bytes, offset))",
      },
      { find: "readI32(bytes, offset + 4));", replace: "readI32(bytes, offset + 3));" },
      { find: "  return unsigned[0]!;", replace: "  return signed[0]!;" },
      { find: "(bytes[offset]! << 24)", replace: "(bytes[offset]! << 16)" },
      { find: "(bytes[offset + 2]! << 8)", replace: "(bytes[offset + 2]! << 7)" },
      {
        find: "return high === 0 ? readU32(bytes, offset + 4) - readU32(bytes, otherOffset + 4) : high;",
        replace: "return high;",
      },
      {
        find: "readU32(bytes, offset + 4) - readU32(bytes, otherOffset + 4)",
        replace: "readU32(bytes, otherOffset + 4) - readU32(bytes, offset + 4)",
      },
    ],
  },
  {
    name: "ShardHint.decode",
    file: "hints/read-hint.ts",
    tests: ["hints/shard-hint.test.ts"],
    edits: [
      { find: "export const TAG_PREFIX = 0x01;", replace: "export const TAG_PREFIX = 0x03;" },
      { find: "export const PREFIX_HEADER_SIZE = 5;", replace: "export const PREFIX_HEADER_SIZE = 4;" },
      { find: "export const MANIFEST_HINT_SIZE = 25;", replace: "export const MANIFEST_HINT_SIZE = 24;" },
      { find: 'if (actual === 0) return { kind: "EmptyData" };', replace: "" },
      { find: "if (actual < PREFIX_HEADER_SIZE) return", replace: "if (actual <= PREFIX_HEADER_SIZE) return" },
      { find: "if (actual < PREFIX_HEADER_SIZE) return", replace: "if (actual < PREFIX_HEADER_SIZE - 1) return" },
      { find: "readU32(bytes, start + 1);", replace: "readU32(bytes, start + 2);" },
      {
        find: 'return actual < size ? { kind: "TruncatedPrefix", expectedMin: size, actual } : size;',
        replace: "return size;",
      },
      { find: "return actual < size ?", replace: "return actual <= size ?" },
      { find: "if (actual < MANIFEST_HINT_SIZE) return", replace: "if (actual <= MANIFEST_HINT_SIZE) return" },
      { find: "if (actual < MANIFEST_HINT_SIZE) return", replace: "if (actual < MANIFEST_HINT_SIZE - 1) return" },
      {
        find: "compareU64(bytes, start + 9, start + 17) < 0",
        replace: "compareU64(bytes, start + 9, start + 17) <= 0",
      },
      { find: "compareU64(bytes, start + 9, start + 17) < 0", replace: "compareU64(bytes, start + 9, start + 17) > 0" },
      { find: "compareU64(bytes, start + 9, start + 17) < 0", replace: "compareU64(bytes, start + 1, start + 9) < 0" },
      { find: "const actual = end - start;", replace: "const actual = bytes.length - start + 1;" },
      { find: "    case TAG_RANGE:\n      return 1;", replace: "    case TAG_RANGE:\n      return 2;" },
    ],
  },
  {
    name: "ShardHint fields",
    file: "hints/shard-hint.ts",
    tests: ["hints/shard-hint.test.ts", "hints/shard-metadata.test.ts"],
    edits: [
      { find: "manifestId: readU64(bytes, offset + 1)", replace: "manifestId: readU64(bytes, offset + 9)" },
      { find: "startRow: readU64(bytes, offset + 9)", replace: "startRow: readU64(bytes, offset + 17)" },
      { find: "endRow: readU64(bytes, offset + 17)", replace: "endRow: readU64(bytes, offset + 16)" },
      { find: "const start = offset + PREFIX_HEADER_SIZE;", replace: "const start = offset + PREFIX_HEADER_SIZE - 1;" },
      { find: "bytes.subarray(start, start + readU32(bytes, offset + 1))", replace: "bytes.subarray(start)" },
      { find: "new Uint8Array(prefixAt(bytes, offset))", replace: "prefixAt(bytes, offset)" },
      { find: "startRow < endRow ? MANIFEST_HINT_SIZE", replace: "startRow <= endRow ? MANIFEST_HINT_SIZE" },
      {
        find: 'size > MAX_METADATA_SIZE ? { kind: "HintTooLarge"',
        replace: 'size >= MAX_METADATA_SIZE ? { kind: "HintTooLarge"',
      },
      {
        find: "words.setBigUint64(offset + 17, hint.endRow);",
        replace: "words.setBigUint64(offset + 17, hint.startRow);",
      },
    ],
  },
  {
    name: "ShardMetadata.decode",
    file: "hints/shard-metadata.ts",
    tests: ["hints/shard-metadata.test.ts"],
    edits: [
      { find: "  if (bytes.length === 0) return 0;\n", replace: "" },
      { find: "if (bytes.length < LENGTH_FIELD_SIZE)", replace: "if (bytes.length <= LENGTH_FIELD_SIZE)" },
      { find: "const declared = readU32(bytes, 0);", replace: "const declared = bytes[3]!;" },
      { find: "if (declared > bytes.length - LENGTH_FIELD_SIZE) return malformed(undefined);", replace: "" },
      { find: "declared > bytes.length - LENGTH_FIELD_SIZE", replace: "declared > bytes.length" },
      { find: "declared > bytes.length - LENGTH_FIELD_SIZE", replace: "declared >= bytes.length - LENGTH_FIELD_SIZE" },
      {
        find: "readHint(bytes, LENGTH_FIELD_SIZE, LENGTH_FIELD_SIZE + declared)",
        replace: "readHint(bytes, LENGTH_FIELD_SIZE, bytes.length)",
      },
      { find: "return malformed(consumed);", replace: "return malformed(undefined);" },
      { find: "return consumed === declared ? consumed : malformed(undefined);", replace: "return consumed;" },
      { find: "return consumed === declared ? consumed", replace: "return consumed >= declared - 1 ? consumed" },
      { find: "bytes.subarray(LENGTH_FIELD_SIZE + hintSize)", replace: "bytes.subarray(LENGTH_FIELD_SIZE)" },
    ],
  },
  {
    name: "decode…Into",
    file: "hints/decode-metadata.ts",
    tests: ["hints/shard-metadata.test.ts"],
    edits: [
      {
        find: "out.bytes.copyWithin(0, extraOffset, size);",
        replace: "out.bytes.copyWithin(0, extraOffset, size - 1);",
      },
      { find: "out.bytes.copyWithin(0, extraOffset, size);", replace: "" },
      { find: "out.commit(size - extraOffset);", replace: "out.commit(size);" },
      {
        find: "const extraOffset = hintSize === 0 ? 0 : LENGTH_FIELD_SIZE + hintSize;",
        replace: "const extraOffset = LENGTH_FIELD_SIZE + hintSize;",
      },
      { find: "pointHintView(out, ENCODED_RANGE, 0, 0);", replace: "return ok();" },
      {
        find: 'if (typeof hintSize !== "number") return err(hintSize);\n  if (hintSize === 0)',
        replace: 'if (typeof hintSize !== "number") return ok();\n  if (hintSize === 0)',
      },
      {
        find: "else pointHintView(out, metadata, LENGTH_FIELD_SIZE, hintSize);",
        replace: "else pointHintView(out, metadata, 0, hintSize);",
      },
      { find: "if (size > MetadataBuf.CAPACITY) assert", replace: "if (size > 2 * MetadataBuf.CAPACITY) assert" },
      {
        find: "return decoded.ok ? ok(decoded.value.connectorExtra) : decoded;",
        replace: "return decoded.ok ? ok(metadataOf(spec)) : decoded;",
      },
    ],
  },
  {
    name: "propagateHintOnSplit",
    file: "hints/propagate-hint.ts",
    tests: ["hints/propagate-hint.test.ts"],
    edits: [
      { find: "compareBytes(childStart, prefix) < 0 ||", replace: "compareBytes(childStart, prefix) <= 0 ||" },
      {
        find: 'compareBytes(childStart, end) >= 0) return invalidPrefix("Start")',
        replace: 'compareBytes(childStart, end) > 0) return invalidPrefix("Start")',
      },
      { find: "compareBytes(childEnd, end) > 0) return", replace: "compareBytes(childEnd, end) >= 0) return" },
      { find: '  if (compareBytes(childStart, childEnd) >= 0) return invalidPrefix("End");\n', replace: "" },
      { find: "if (end.manifestId !== manifestId) return otherManifest(manifestId, end.manifestId);", replace: "" },
      { find: "start.row < parent.startRow ||", replace: "start.row <= parent.startRow ||" },
      { find: "start.row >= parent.endRow)", replace: "start.row > parent.endRow)" },
      { find: "end.row <= parent.startRow ||", replace: "end.row < parent.startRow ||" },
      { find: "end.row > parent.endRow)", replace: "end.row >= parent.endRow)" },
      { find: "if (start.row >= end.row) return", replace: "if (start.row > end.row) return" },
      {
        find: 'if (end === undefined) return invalidPrefix("End");',
        replace: 'if (end === undefined) return invalidPrefix("Start");',
      },
    ],
  },
];
