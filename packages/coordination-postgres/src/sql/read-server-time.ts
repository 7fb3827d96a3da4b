import type { Statement } from "./statement.ts";

export const READ_SERVER_TIME: Statement = {
  name: "read_server_time",
  text: () => "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS at_ms",
};
