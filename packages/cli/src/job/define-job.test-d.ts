import { expectTypeOf, test } from "vitest";
import { defineJob, type FileItem, type ItemContext, type Job, type LineItem, type RowItem } from "./index.ts";

test("a job knows the fields of its items and its result", () => {
  expectTypeOf(defineJob<FileItem>(({ pathBytes }) => pathBytes.length)).toExtend<Job<FileItem>>();
  expectTypeOf(defineJob<LineItem>(async ({ line }, { signal }) => [line, signal.aborted])).toExtend<Job<LineItem>>();
  expectTypeOf(defineJob<RowItem>({ process: ({ row }) => row["id"], close: () => {} })).toExtend<Job<RowItem>>();
  expectTypeOf(defineJob<FileItem, string>)
    .parameter(0)
    .toExtend<Job<FileItem, string> | ((item: FileItem, context: ItemContext) => string | Promise<string>)>();
  // @ts-expect-error -- a line has no path
  defineJob<LineItem>(({ path }) => path);
});
