export type { Settings } from './broker.ts';
export { type Kafka, type KafkaOptions, startKafka } from './start.ts';
export { ForeignFormat } from './storage/schema.ts';
export { SecondBroker } from './storage/writer.ts';
