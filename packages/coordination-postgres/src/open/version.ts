/** The version in the package's manifest; a test compares them. */
export const VERSION = "0.1.0";
