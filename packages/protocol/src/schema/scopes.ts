import Type, { type Static } from "typebox";
import { Count, Id, names, Tenant } from "./scalars.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 64 });
const Prefix = Type.String({ minLength: 1, maxLength: 85, description: "The start of `t/TENANT/r/RUN`." });
const MoveId = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });

export const ScopeWire = Type.Object(
  {
    prefix: Prefix,
    writer: Name,
    fallback: Type.Optional(Name),
    state: names("Owned", "Misdirected", "Quiesced", "Unavailable", "Unknown"),
  },
  { title: "Scope" },
);
export type ScopeWire = Static<typeof ScopeWire>;
export const MoveWire = Type.Object(
  {
    id: MoveId,
    prefix: Prefix,
    from: Name,
    to: Name,
    state: names("Started", "Drained", "Committed", "Aborted"),
  },
  { title: "Move", description: "A move of a scope, as this node knows it." },
);
export type MoveWire = Static<typeof MoveWire>;

export const ScopesOk = Type.Object({
  node: Name,
  epoch: Count,
  nodes: Type.Array(Type.Object({ name: Name, address: Type.String() })),
  scopes: Type.Array(ScopeWire),
  moves: Type.Array(MoveWire),
});
export const RouteQuery = Type.Object({ tenant: Type.Optional(Tenant), run: Id }, closed);
export const RouteOk = Type.Object({
  kind: names("Owned", "Misdirected", "Quiesced", "Unavailable", "Unknown"),
  prefix: Type.Optional(Prefix),
  owner: Type.Optional(Name),
  address: Type.Optional(Type.String()),
  epoch: Count,
});
export const MoveScopeBody = Type.Object(
  {
    id: MoveId,
    prefix: Prefix,
    to: Name,
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
  },
  closed,
);
export const AbortMoveBody = Type.Object({ id: MoveId }, closed);
export const MoveOk = Type.Object({ id: MoveId, outcome: names("Committed", "Aborted", "Pending") });
export const ReloadBody = Type.Object({}, closed);
export const ReloadOk = Type.Object({ epoch: Count });
export const NodeBody = Type.Object({ node: Name }, closed);
export const DownOk = Type.Object({ scopes: Type.Array(Type.Object({ prefix: Prefix, by: Name })) });
export const UpOk = Type.Object({ wasDown: Type.Boolean() });
