// The table decides what every caller has to handle. A cell that is wrong is a failure that a caller's exhaustive
// `switch` does not know, or one that they handle and that never comes. So the whole table is compared with the
// document it came from, cell by cell, and what we added is counted apart.

import { describe, expect, test } from "vitest";
import { ADDED_OPERATIONS, DOCUMENTED_UNIONS, MATRIX_CELLS } from "./design-tables.fixture.ts";
import {
  COORD_ERROR_KINDS,
  ERROR_ROUTES,
  OPERATIONS,
  type ErrorKind,
  type Operation,
  type Route,
} from "./error-routes.ts";

const kinds = Object.keys(ERROR_ROUTES) as readonly ErrorKind[];

function kindsWith(operations: readonly Operation[], route: Route): readonly ErrorKind[] {
  return kinds.filter((kind) => operations.some((operation) => ERROR_ROUTES[kind][operation] === route)).sort();
}

describe("ERROR_ROUTES", () => {
  test("has 12 kinds of CoordError, each a row of the document's matrix", () => {
    expect(COORD_ERROR_KINDS).toHaveLength(12);
    expect([...new Set(MATRIX_CELLS.map(({ kind }) => kind))]).toEqual(COORD_ERROR_KINDS);
  });

  test.each(MATRIX_CELLS)("$operation and $kind: accepted is $isAccepted", ({ kind, operation, isAccepted }) => {
    expect(ERROR_ROUTES[kind][operation]).toBe(isAccepted ? "yes" : "no");
  });

  test.each(DOCUMENTED_UNIONS)("$type has the document's $variantCount variants, and additions apart", (union) => {
    expect(union.kinds).toHaveLength(union.variantCount);
    expect(kindsWith(union.operations, "yes")).toEqual([...union.kinds].sort());
    expect(kindsWith(union.operations, "addition")).toEqual([...union.additions].sort());
  });

  test.each(Object.entries(ADDED_OPERATIONS))("%s is an addition as a whole", (operation, added) => {
    expect(kindsWith([operation as Operation], "yes")).toEqual([]);
    expect(kindsWith([operation as Operation], "addition")).toEqual([...added].sort());
  });

  test("every operation is accounted for by one of those", () => {
    const listed = [...DOCUMENTED_UNIONS.flatMap(({ operations }) => operations), ...Object.keys(ADDED_OPERATIONS)];
    expect(listed.sort()).toEqual([...OPERATIONS].sort());
  });

  test("release can fail exactly as park can", () => {
    for (const kind of kinds) expect(ERROR_ROUTES[kind].release === "no").toBe(ERROR_ROUTES[kind].park === "no");
  });

  test("every kind can occur somewhere", () => {
    for (const kind of kinds) expect(Object.values<Route>(ERROR_ROUTES[kind])).not.toEqual(OPERATIONS.map(() => "no"));
  });
});
