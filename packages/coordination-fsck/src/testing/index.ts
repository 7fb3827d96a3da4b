export { FAMILY_RUN, FAMILY_TENANT, raiseFamily, type FamilyOptions } from "./raise-family.ts";
