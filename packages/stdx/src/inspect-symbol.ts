/**
 * What `node:util` looks for before it prints an object.
 *
 * The registered symbol, and not an import of it, so that this package runs anywhere.
 */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");
