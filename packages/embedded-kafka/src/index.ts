export type { Settings } from './broker.ts';
export { type Kafka, type KafkaOptions, startKafka } from './start.ts';
export { UnsupportedSchemaVersion } from './storage/schema.ts';
export { WriterLockTaken } from '@cpg/embedded-postgres';
