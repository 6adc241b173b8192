export { consume, type RunningConsumer, type ConsumeOptions, type ConsumedTopic } from './consume.ts';
export { createKafka, type KafkaConnectionConfig } from './create-kafka.ts';
export { runDeadLetterCommand } from './dead-letter-command.ts';
export { type DeadLetter, type DeadLetters, createDeadLetters } from './dead-letters.ts';
export { decode, type Decoded } from './decode.ts';
export { createPublisher, isFenced, type Publisher } from './publisher.ts';
export { ensureTopics, type TopicSettings } from './topics.ts';
