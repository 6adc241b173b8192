export type { ConsumedTopic, ConsumeOptions } from './batch-handler.ts';
export { consume, type RunningConsumer } from './consume.ts';
export { createKafka, type KafkaConnectionConfig } from './create-kafka.ts';
export { runDeadLetterCommand } from './dead-letter-command.ts';
export type { DeadLetter } from './dead-letter.ts';
export { createDeadLetters, type DeadLetters } from './dead-letters.ts';
export { decode, type Decoded } from './decode.ts';
export { createPublisher, isFenced, type Publisher } from './publisher.ts';
export { ensureTopics, type TopicConfig, type TopicSettings, topicSettingsOf } from './topics.ts';
