import { NoteSpace } from "@gossip/coordination";
import { prefixEnd } from "@gossip/etcd-client";
import type { KeyRange, Layout, RunAddress } from "./layout.ts";
import { pathOf } from "./layout.ts";

// `note/TENANT/RUN/CODE/KEY`: the code of the space in two hex digits, the key in hex, so that keys sort like notes.

/** All notes of a run. */
export function notesOfRun(layout: Layout, address: RunAddress): KeyRange {
  return rangeOf(`${layout.family("note").get}${pathOf(address)}/`);
}

/** Notes of a space, from `start` up to `end`. */
export function noteRange(
  layout: Layout,
  address: RunAddress,
  {
    space,
    start,
    end,
  }: { readonly space: NoteSpace; readonly start?: Uint8Array; readonly end?: Uint8Array | undefined },
): KeyRange {
  const all = rangeOf(spacePrefix(layout, address, space));
  return {
    get: start === undefined ? all.get : `${all.get}${hex(start)}`,
    end: end === undefined ? all.end : `${all.get}${hex(end)}`,
  };
}

export function noteKey(layout: Layout, address: RunAddress, space: NoteSpace, key: Uint8Array): string {
  return `${spacePrefix(layout, address, space)}${hex(key)}`;
}

/** The space and the key in the key of a note; `undefined` if it is not one. */
export function parseNoteKey(key: string): { readonly space: NoteSpace; readonly key: Uint8Array } | undefined {
  const match = /\/([0-9a-f]{2})\/((?:[0-9a-f]{2})*)$/u.exec(key);
  const space = match === null ? undefined : NoteSpace.fromCode(Number.parseInt(match[1]!, 16));
  return space && { space, key: Uint8Array.from(Buffer.from(match![2]!, "hex")) };
}

function spacePrefix(layout: Layout, address: RunAddress, space: NoteSpace): string {
  const code = NoteSpace.codes[space].toString(16).padStart(2, "0");
  return `${layout.family("note").get}${pathOf(address)}/${code}/`;
}

function rangeOf(prefix: string): KeyRange {
  return { get: prefix, end: prefixEnd(prefix) };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}
