// The protocol a second time, as plainly as it can be said: strings for keys, arrays for logs, no versions, no copies, no
// store. Nothing here is shared with the kernel, so that a mistake in one is not a mistake in both.

/** The answer of an operation: `Executed`, `Replayed`, or the kind of the refusal. */
export type Answer = string;

export interface ModelLease {
  readonly shard: ModelShard;
  readonly owner: number;
  readonly fence: number;
}

interface Logged {
  readonly op: number;
  readonly payload: string;
}

export interface ModelShard {
  /** The id that the real coordinator gave it. */
  readonly id: bigint;
  readonly parent: bigint | undefined;
  status: "Active" | "Done" | "Split" | "Parked";
  reason: string | undefined;
  start: string;
  end: string;
  key: string | undefined;
  token: string | undefined;
  holder: { owner: number; until: number; op: number } | undefined;
  fence: number;
  spawned: bigint[];
  log: Logged[];
  last: number;
  attempts: number;
  /** Which op made which residual, forever. */
  residuals: { op: number; id: bigint; start: string; end: string }[];
}

export interface ModelOptions {
  readonly leaseDuration: number;
  readonly maxRetries: number | undefined;
}

const SHARD_LOG = 16;
const RUN_LOG = 8;

export class NaiveModel {
  now = 1;
  runStatus: "Active" | "Done" | "Failed" | "Cancelled" = "Active";
  runLast = 1;
  runLog: Logged[] = [];
  readonly shards: ModelShard[];
  readonly leases: ModelLease[] = [];
  readonly options: ModelOptions;

  constructor(options: ModelOptions, roots: readonly { id: bigint; start: string; end: string }[]) {
    this.options = options;
    this.shards = roots.map((root) =>
      makeShard({ ...root, parent: undefined, key: undefined, token: undefined, now: 1 }),
    );
  }

  acquire(shard: ModelShard, owner: number, op: number): Answer {
    const at = this.#at(shard);
    const held = shard.holder !== undefined && at < shard.holder.until ? shard.holder : undefined;
    if (held?.owner === owner && held.op === op) {
      this.leases.push({ shard, owner, fence: shard.fence });
      return "Replayed";
    }
    if (this.runStatus !== "Active") return "RunTerminal";
    if (shard.status !== "Active") return "ShardTerminal";
    if (held !== undefined) return "AlreadyLeased";
    shard.last = at;
    if (this.options.maxRetries !== undefined && shard.attempts > this.options.maxRetries) {
      Object.assign(shard, { status: "Parked", reason: "TooManyErrors", holder: undefined });
      return "ShardTerminal";
    }
    shard.fence++;
    shard.attempts++;
    shard.holder = { owner, until: at + this.options.leaseDuration, op };
    this.leases.push({ shard, owner, fence: shard.fence });
    return "Executed";
  }

  renew(lease: ModelLease): Answer {
    if (this.runStatus !== "Active") return "RunTerminal";
    const refusal = this.#checkLease(lease);
    if (refusal !== undefined) return refusal;
    const { shard } = lease;
    shard.last = this.#at(shard);
    shard.holder = { ...shard.holder!, until: shard.last + this.options.leaseDuration };
    return "Executed";
  }

  checkpoint(lease: ModelLease, to: { key: string; token: string | undefined }, op: number, renews: boolean): Answer {
    return this.#logged(lease, op, `checkpoint ${to.key} ${to.token}`, () => {
      const refusal = checkCursor(lease.shard, to.key);
      if (refusal !== undefined) return refusal;
      this.#moveTo(lease.shard, to);
      if (renews && this.runStatus === "Active") {
        lease.shard.holder = { ...lease.shard.holder!, until: lease.shard.last + this.options.leaseDuration };
      }
      return undefined;
    });
  }

  complete(lease: ModelLease, to: { key: string; token: string | undefined } | "exhausted", op: number): Answer {
    const payload = to === "exhausted" ? "complete exhausted" : `complete ${to.key} ${to.token}`;
    return this.#logged(lease, op, payload, () => {
      if (to !== "exhausted") {
        const refusal = checkCursor(lease.shard, to.key);
        if (refusal !== undefined) return refusal;
        this.#moveTo(lease.shard, to);
      }
      Object.assign(lease.shard, { status: "Done", holder: undefined });
      return undefined;
    });
  }

  park(lease: ModelLease, reason: string, op: number): Answer {
    return this.#logged(lease, op, `park ${reason}`, () => {
      Object.assign(lease.shard, { status: "Parked", reason, holder: undefined });
      return undefined;
    });
  }

  release(lease: ModelLease, op: number): Answer {
    return this.#logged(lease, op, "release", () => {
      lease.shard.holder = undefined;
      return undefined;
    });
  }

  /** `made` are the ids that the real split gave, in order of start; they are looked at only where the split is executed. */
  splitReplace(lease: ModelLease, points: readonly string[], op: number, made: readonly bigint[]): Answer {
    const { shard } = lease;
    const bounds = [shard.start, ...points, shard.end];
    return this.#logged(
      lease,
      op,
      `replace ${bounds.join(",")} ${shard.key} ${shard.token}`,
      () => {
        if (bounds.some((bound, index) => index > 0 && bounds[index - 1]! >= bound)) return "SplitInvalid";
        if (shard.key !== undefined && shard.key >= bounds[1]!) return "SplitInvalid";
        const children = made.map((id, index) =>
          makeShard({
            id,
            parent: shard.id,
            start: bounds[index]!,
            end: bounds[index + 1]!,
            key: index === 0 ? shard.key : undefined,
            token: index === 0 ? shard.token : undefined,
            now: this.#at(shard),
          }),
        );
        Object.assign(shard, { status: "Split", holder: undefined, spawned: [...shard.spawned, ...made] });
        this.shards.push(...children);
        return undefined;
      },
      { stopsWithRun: true },
    );
  }

  splitResidual(lease: ModelLease, point: string, op: number, made: bigint | undefined): Answer {
    const { shard } = lease;
    const forgotten = shard.residuals.find((residual) => residual.op === op);
    if (forgotten !== undefined && !shard.log.some((entry) => entry.op === op)) {
      return forgotten.start === point ? "Replayed" : "OpIdConflict";
    }
    return this.#logged(
      lease,
      op,
      `residual ${point}`,
      () => {
        if (point <= shard.start || point >= shard.end) return "SplitInvalid";
        if (shard.key !== undefined && shard.key >= point) return "SplitInvalid";
        this.shards.push(
          makeShard({
            id: made!,
            parent: shard.id,
            start: point,
            end: shard.end,
            key: undefined,
            token: undefined,
            now: this.#at(shard),
          }),
        );
        shard.residuals.push({ op, id: made!, start: point, end: shard.end });
        Object.assign(shard, { end: point, spawned: [...shard.spawned, made!] });
        return undefined;
      },
      { stopsWithRun: true },
    );
  }

  unpark(shard: ModelShard, op: number): Answer {
    const known = findLogged(shard.log, op, "unpark");
    if (known !== undefined) return known;
    if (this.runStatus !== "Active") return "RunTerminal";
    if (shard.status !== "Parked") return "NotParked";
    shard.last = this.#at(shard);
    Object.assign(shard, { status: "Active", reason: undefined, attempts: 0, fence: shard.fence + 1 });
    shard.log = [...shard.log, { op, payload: "unpark" }].slice(-SHARD_LOG);
    return "Executed";
  }

  endRun(target: "Done" | "Failed" | "Cancelled", op: number): Answer {
    const known = findLogged(this.runLog, op, target);
    if (known !== undefined) return known;
    if (this.runStatus !== "Active") return "RunTerminal";
    if (target === "Done" && this.shards.some((shard) => shard.status === "Active" || shard.status === "Parked"))
      return "RunUnsettled";
    this.runLast = Math.max(this.runLast, this.now);
    this.runStatus = target;
    this.runLog = [...this.runLog, { op, payload: target }].slice(-RUN_LOG);
    return "Executed";
  }

  /** Shards that a claim may give: active and not held. */
  claimable(): ModelShard[] {
    return this.shards.filter(
      (shard) => shard.status === "Active" && !(shard.holder !== undefined && this.#at(shard) < shard.holder.until),
    );
  }

  #at(shard: ModelShard): number {
    return Math.max(this.now, shard.last);
  }

  #moveTo(shard: ModelShard, { key, token }: { key: string; token: string | undefined }): void {
    if (shard.key === undefined || key > shard.key) shard.attempts = 0;
    Object.assign(shard, { key, token });
  }

  #checkLease({ shard, owner, fence }: ModelLease): Answer | undefined {
    if (shard.status !== "Active") return "ShardTerminal";
    if (fence !== shard.fence || shard.holder === undefined) return "StaleFence";
    if (this.#at(shard) >= shard.holder.until) return "LeaseExpired";
    return shard.holder.owner === owner ? undefined : "StaleFence";
  }

  #logged(
    lease: ModelLease,
    op: number,
    payload: string,
    change: () => Answer | undefined,
    { stopsWithRun = false } = {},
  ): Answer {
    const { shard } = lease;
    const known = findLogged(shard.log, op, payload);
    if (known !== undefined) return known;
    if (stopsWithRun && this.runStatus !== "Active") return "RunTerminal";
    const refusal = this.#checkLease(lease);
    if (refusal !== undefined) return refusal;
    const at = this.#at(shard);
    const before = shard.last;
    shard.last = at;
    const refused = change();
    if (refused !== undefined) {
      shard.last = before;
      return refused;
    }
    shard.log = [...shard.log, { op, payload }].slice(-SHARD_LOG);
    return "Executed";
  }
}

function findLogged(log: readonly Logged[], op: number, payload: string): Answer | undefined {
  const entry = log.find((each) => each.op === op);
  if (entry === undefined) return undefined;
  return entry.payload === payload ? "Replayed" : "OpIdConflict";
}

function checkCursor(shard: ModelShard, key: string): Answer | undefined {
  if (shard.key !== undefined && key < shard.key) return "CursorRegression";
  return key >= shard.start && key < shard.end ? undefined : "CursorOutOfBounds";
}

function makeShard(
  fields: Pick<ModelShard, "id" | "parent" | "start" | "end" | "key" | "token"> & { now: number },
): ModelShard {
  const { now, ...rest } = fields;
  return {
    ...rest,
    status: "Active",
    reason: undefined,
    holder: undefined,
    fence: 1,
    spawned: [],
    log: [],
    last: now,
    attempts: 0,
    residuals: [],
  };
}
