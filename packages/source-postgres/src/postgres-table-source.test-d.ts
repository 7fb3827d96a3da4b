// What a row is, is for the caller to say; without a word it is a record of what nobody knows.

import type { Source } from "@gossip/worker";
import { expectTypeOf } from "vitest";
import { postgresTableSource } from "./postgres-table-source.ts";
import type { RowItem } from "./row-item.ts";

const options = { url: "postgres://u@h/d", table: "t" };

expectTypeOf(postgresTableSource(options)).toEqualTypeOf<Source<RowItem<Record<string, unknown>>>>();
expectTypeOf(postgresTableSource<{ id: string }>(options)).toEqualTypeOf<Source<RowItem<{ id: string }>>>();

// @ts-expect-error a table is always named
postgresTableSource({ url: "postgres://u@h/d" });
