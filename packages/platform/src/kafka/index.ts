export { type ConsumedTopic } from './batch-handler.ts';
export { consume, type RunningConsumer } from './consume.ts';
export { createKafka, KAFKA, type KafkaConnectionConfig, kafkaDependency } from './client.ts';
export { addDeadLetterCommands } from './dead-letter-commands.ts';
export { readTopic } from './read-topic.ts';
export { createPublisher, isFenced, isRefused, type OutgoingMessage, type Publisher } from './publisher.ts';
export { ensureTopics, type TopicConfig, topicSettingsOf } from './topics.ts';
