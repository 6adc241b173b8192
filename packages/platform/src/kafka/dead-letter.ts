import type { KafkaMessage } from 'kafkajs';

/** Headers that a dead letter has in addition to those of the original message: origin, failing group and reason. */
export const DEAD_LETTER_HEADERS = ['topic', 'partition', 'offset', 'group', 'reason'] as const;

/** A message that a consumer group could not process. */
export interface DeadLetter {
  /** Offset on the dead-letter topic. */
  readonly offset: string;
  /** The group that could not process it. */
  readonly group: string;
  /** Partition on the original topic. */
  readonly partition: string;
  /** Offset on the original topic. */
  readonly at: string;
  readonly reason: string;
  readonly key: string | null;
  readonly value: string | null;
}

export const toDeadLetter = ({ offset, key, value, headers = {} }: KafkaMessage): DeadLetter => {
  const header = (name: (typeof DEAD_LETTER_HEADERS)[number]) => headers[name]?.toString() ?? '';
  return {
    offset,
    group: header('group'),
    partition: header('partition'),
    at: header('offset'),
    reason: header('reason'),
    key: key?.toString() ?? null,
    value: value?.toString() ?? null,
  };
};
