export { WriterLockTaken } from '@cpg/embedded-postgres';
export type { Settings } from './settings.ts';
export { type Kafka, type KafkaOptions, startKafka } from './start.ts';
export { UnsupportedSchemaVersion } from './storage/schema.ts';
