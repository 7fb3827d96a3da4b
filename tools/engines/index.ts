// Real engines for tests and benches, on loopback, with temporary data.
export { makeCertificates, tlsSkipped, type PemFiles } from "./certificates.ts";
export {
  etcdMissing,
  etcdSkipped,
  etcdTlsSkipped,
  startEtcd,
  type EtcdCertificates,
  type EtcdServer,
  type EtcdServerOptions,
} from "./etcd.ts";
export { freePort } from "./free-port.ts";
export { skippedFor } from "./skipped-for.ts";
export { radosGatewaySkipped, startRadosGateway, type RadosGateway } from "./radosgw.ts";
export { redisMissing, startRedis, type RedisServer } from "./redis.ts";
export { startPostgres, type PostgresOptions, type PostgresServer } from "./postgres.ts";
