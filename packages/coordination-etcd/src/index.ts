export { etcdOpenErrorMessage, type EtcdOpenError } from "./open/etcd-open-error.ts";
export type { EtcdStore } from "./etcd-store.ts";
export { openEtcdStore, type EtcdStoreOptions } from "./open/open-etcd-store.ts";
