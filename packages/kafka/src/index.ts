export { consume, type Consumption, type ConsumeOptions, type Topic } from './consume.ts';
export { createKafka, type KafkaAddress } from './connect.ts';
export { runDeadLetterCommand } from './dead-letter-command.ts';
export { type DeadLetter, type DeadLetters, deadLetters } from './dead-letters.ts';
export { decode, type Decoded } from './decode.ts';
export { createPublisher, isShutOut, type Publisher } from './publish.ts';
export { ensureTopics, type TopicSettings } from './topics.ts';
