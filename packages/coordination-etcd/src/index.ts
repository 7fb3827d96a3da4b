export { etcdOpenErrorMessage, type EtcdOpenError } from "./etcd-open-error.ts";
export type { EtcdStore } from "./etcd-store.ts";
export { openEtcdStore, type EtcdStoreOptions } from "./open-etcd-store.ts";
