/** What the runtime needs of a logger: fields first, then a sentence, as pino and its like take them. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
