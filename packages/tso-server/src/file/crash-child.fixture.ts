// The child of the crash tests. `persist DIR STEP BOUND` opens a state directory and dies by its own hand at a
// step of persisting BOUND; `create DIR STEP` dies while the state file is being made; `hold DIR BOUND` persists and waits.
import { mkdirSync } from "node:fs";
import { writeSync } from "node:fs";
import { unwrap } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { FileDriver } from "./file-driver.ts";
import { createAtomically, type SlotIo } from "./slot-io.ts";
import { encodeState } from "./slot-record.ts";

const [mode, directory, step, bound] = process.argv.slice(2) as [string, string, string, string];

function die(): void {
  process.kill(process.pid, "SIGKILL");
  // The signal is delivered when the kernel gets to it: do nothing more until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function dyingIo(io: SlotIo): SlotIo {
  let isArmed = false;
  return {
    async write(bytes, position) {
      isArmed = true;
      if (step === "before write") die();
      const torn = /^torn (\d+)$/u.exec(step);
      if (torn !== null) {
        await io.write(bytes.subarray(0, Number(torn[1])), position);
        die();
      }
      await io.write(bytes, position);
      if (step === "before sync") die();
    },
    async datasync() {
      await io.datasync();
      if (isArmed && step === "after sync") die();
    },
    close: () => io.close(),
  };
}

if (mode === "create") {
  mkdirSync(directory, { recursive: true });
  await createAtomically({ directory, name: "state" }, encodeState(0), (name) => {
    if (name === step) die();
  });
} else if (mode === "persist") {
  const driver = unwrap(await FileDriver.open({ directory, wrapIo: dyingIo }));
  say("open");
  void (await driver.persistHighWater(Number(bound), Epoch.ZERO));
} else {
  const driver = unwrap(await FileDriver.open({ directory }));
  say(`held ${unwrap(await driver.persistHighWater(Number(step), Epoch.ZERO))}`);
  process.stdin.resume();
}
