/** What a token may do. Each role includes those before it. */
export const ROLES = ["read", "work", "operate", "admin"] as const;

export type Role = (typeof ROLES)[number];

export function roleIncludes(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed);
}
