/** A run of bytes in the model's free list. */
export interface Span {
  readonly offset: number;
  readonly size: number;
}

/** What the model knows of one allocation. */
export interface ModelSlot {
  readonly offset: number;
  readonly allocSize: number;
  readonly bytes: Uint8Array;
}

/**
 * The slab's rules in their plainest form: a sorted array of free spans, searched from end to end.
 *
 * It shares no code with the slab, and does everything by the text of the rules.
 */
export class SlabModel {
  readonly capacity: number;
  bump = 0;
  free: Span[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  allocate(bytes: Uint8Array): ModelSlot | undefined {
    const allocSize = classOf(bytes.length);
    const fitting = this.free.filter((span) => span.size >= allocSize);
    const smallest = Math.min(...fitting.map((span) => span.size));
    const best = fitting.find((span) => span.size === smallest);
    if (best !== undefined) {
      const rest = { offset: best.offset + allocSize, size: best.size - allocSize };
      this.free = this.free.flatMap((span) => (span !== best ? [span] : rest.size > 0 ? [rest] : []));
      return { offset: best.offset, allocSize, bytes };
    }
    if (this.bump + allocSize > this.capacity) return undefined;
    this.bump += allocSize;
    return { offset: this.bump - allocSize, allocSize, bytes };
  }

  deallocate(slot: ModelSlot): void {
    const spans = [...this.free, { offset: slot.offset, size: slot.allocSize }];
    this.free = merged(spans.sort((a, b) => a.offset - b.offset));
    const last = this.free.at(-1);
    if (last === undefined || last.offset + last.size !== this.bump) return;
    this.free.pop();
    this.bump = last.offset;
  }

  clear(): void {
    this.bump = 0;
    this.free = [];
  }

  /** By trying every class: what `SlabFull.available` must say. */
  available(): number {
    const runs = [this.capacity - this.bump, ...this.free.map((span) => span.size)];
    const classes = Array.from({ length: 28 }, (_, index) => 16 * 2 ** index);
    return classes.findLast((size) => runs.some((run) => run >= size)) ?? 0;
  }
}

/** The next power of two, sixteen at least. */
export function classOf(size: number): number {
  let allocSize = 16;
  while (allocSize < size) allocSize *= 2;
  return allocSize;
}

function merged(sorted: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of sorted) {
    const last = result.at(-1);
    if (last !== undefined && last.offset + last.size === span.offset) {
      result[result.length - 1] = { offset: last.offset, size: last.size + span.size };
    } else {
      result.push(span);
    }
  }
  return result;
}
