import { randomUUID } from 'node:crypto';
import { METADATA } from '@cpg/event-sourcing/testing';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';

/** An event as the log of the event store has it. */
export const logEntry = (
  streamId: string,
  type: string,
  data: unknown,
  { isJson = true, revision = 0 } = {},
): AllStreamResolvedEvent =>
  ({
    event: {
      type,
      data,
      streamId,
      isJson,
      metadata: METADATA,
      id: randomUUID(),
      revision: BigInt(revision),
      created: new Date('2026-01-31T12:00:00.000Z'),
    },
  }) as unknown as AllStreamResolvedEvent;
