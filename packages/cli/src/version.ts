/** As the package's manifest has it; a test compares them. */
export const VERSION = "0.1.0";
