export { EtcdClient, type TxnResult } from "./etcd-client.ts";
export { EtcdCode, type EtcdError } from "./etcd-error.ts";
export type { EtcdOptions, EtcdTls } from "./etcd-options.ts";
export type { KeyValue, RangeResult } from "./key-value.ts";
export {
  foundAt,
  prefixEnd,
  type Compare,
  type DeleteOperation,
  type GetOperation,
  type InnerTxnResult,
  type TxnOperation,
  type OperationResult,
  type PutOperation,
  type Txn,
} from "./operation.ts";
export { systemTimers, type Timers } from "./timers.ts";
