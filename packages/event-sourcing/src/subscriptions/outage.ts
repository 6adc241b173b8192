import { isTemporary } from '@cpg/contracts';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import { FencedError } from './checkpoint.ts';

/** Whether a dependency is unavailable, or another process leads by now: the same event may be handled later. Every
 *  other error is one of the event or of our code. */
export const isOutage = (error: unknown): boolean =>
  error instanceof FencedError || isTemporary(error) || isTransientDatabaseError(error) || isKafkaError(error);

/** Kafka does not take the message of an event, however often it is sent. */
export class RefusedMessageError extends Error {
  override readonly name = 'RefusedMessageError';
}

const isKafkaError = (error: unknown): boolean => error instanceof Error && error.name.startsWith('KafkaJS');
