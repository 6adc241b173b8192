import { createRequire } from 'node:module';
import { createLogger } from '../log/logger.ts';
import { createKafka } from './client.ts';

const load = createRequire(import.meta.url);
const { createErrorFromCode } = load('kafkajs/src/protocol/error') as { createErrorFromCode: (code: number) => Error };
const CONCURRENT_TRANSACTIONS = 51;
const NOT_COORDINATOR = 16;

/** The warnings of a client that reports a refused request and its retry, as kafkajs does. */
const warningsAbout = (code: number): unknown[] => {
  const warnings: unknown[] = [];
  const log = Object.assign(Object.create(createLogger({ name: 'test', level: 'silent' })), {
    warn: (_: unknown, message: string) => warnings.push(message),
  });
  const logger = createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log }).logger();
  const { message } = createErrorFromCode(code);
  logger.error('Response AddPartitionsToTxn(key: 24, version: 1)', { error: message });
  logger.error(`Failed to send messages: ${message}`, { retryCount: 0, retryTime: 50 });
  return warnings;
};

test('the client warns of refused requests', () =>
  expect(warningsAbout(NOT_COORDINATOR)).toEqual(['kafka client', 'kafka client']));

test('the client does not warn of a transaction that follows another at once', () =>
  expect(warningsAbout(CONCURRENT_TRANSACTIONS)).toEqual([]));
