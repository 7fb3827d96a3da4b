// The caller gives the type of a row. The default is a record of unknown values.

import type { Source } from "@gossip/worker";
import { expectTypeOf } from "vitest";
import { postgresTableSource, type PostgresTableSource } from "./postgres-table-source.ts";
import type { RowItem } from "./row-item.ts";

const options = { url: "postgres://u@h/d", table: "t" };

expectTypeOf(postgresTableSource(options)).toEqualTypeOf<PostgresTableSource>();
expectTypeOf(postgresTableSource<{ id: string }>(options)).toEqualTypeOf<PostgresTableSource<{ id: string }>>();
expectTypeOf<PostgresTableSource<{ id: string }>>().toExtend<Source<RowItem<{ id: string }>>>();
// `close` always exists.
expectTypeOf<PostgresTableSource["close"]>().toEqualTypeOf<() => Promise<void>>();

// @ts-expect-error a table is always named
postgresTableSource({ url: "postgres://u@h/d" });
