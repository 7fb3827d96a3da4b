// Loaded before the program: shifts the wall clock of the process by SHIFT_MS, from the start or once STEP_FILE exists.
import { existsSync } from "node:fs";

const shiftMs = Number(process.env.SHIFT_MS ?? 0);
const file = process.env.STEP_FILE;
const RealDate = Date;
let isShifted = file === undefined;
let lookedAt = 0;

function shift() {
  const now = RealDate.now();
  if (!isShifted && now - lookedAt > 20) {
    lookedAt = now;
    isShifted = existsSync(file);
  }
  return isShifted ? shiftMs : 0;
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift());
    else super(...args);
  }
  static now() {
    return RealDate.now() + shift();
  }
};
