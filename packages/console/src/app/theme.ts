/** What the user chose. `system` follows the setting of the operating system. */
export type ThemeChoice = "system" | "light" | "dark";

const KEY = "gossip-theme";
const CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];

export function nextTheme(choice: ThemeChoice): ThemeChoice {
  return CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length]!;
}

export function readTheme(): ThemeChoice {
  const stored = localStorage.getItem(KEY);
  return CHOICES.find((choice) => choice === stored) ?? "system";
}

export function storeTheme(choice: ThemeChoice): void {
  localStorage.setItem(KEY, choice);
}
