import { type Bounds, LIMIT_MS, type OtherClock } from '@cpg/platform';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { withReadTimeout } from './stream.ts';

const READ_TIMEOUT_MS = 4_000;

/** The clock of the event store, by the times of events that appear between two looks at the end of its log. */
export const eventStoreClock = (client: EventStoreDBClient): OtherClock => {
  /** The newest event of the last look; none in an empty store. */
  let seen: { readonly position: bigint | undefined; readonly askedMs: number } | null = null;
  let bounds: Bounds | null = null;
  return {
    name: 'event_store',
    read: async ({ now, steadyMs }) => {
      const askedMs = steadyMs();
      const event = await newestEvent(client);
      const answeredMs = steadyMs();
      const before = seen;
      const position = event?.position.commit;
      seen = { position, askedMs };
      if (!event) return null;
      const createdMs = event.created.getTime();
      if (before === null || before.position === position) {
        // Nothing comes from the future.
        const isAhead = createdMs - now().getTime() > LIMIT_MS;
        return isAhead ? { fromMs: createdMs - answeredMs, toMs: createdMs - answeredMs } : null;
      }
      bounds = narrowed(bounds, { fromMs: createdMs - answeredMs, toMs: createdMs - before.askedMs });
      return bounds;
    },
  };
};

/** Several events say more exactly what time it is. After the clock was set, only the newest one counts. */
const narrowed = (known: Bounds | null, newest: Bounds): Bounds => {
  if (!known || known.fromMs > newest.toMs || known.toMs < newest.fromMs) return newest;
  return { fromMs: Math.max(known.fromMs, newest.fromMs), toMs: Math.min(known.toMs, newest.toMs) };
};

const newestEvent = async (client: EventStoreDBClient) => {
  const reading = client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 });
  const read = async () => {
    let newest: AllStreamResolvedEvent | null = null;
    // Read to the end: a read that stops early stays open.
    for await (const resolved of reading) newest = resolved;
    return newest;
  };
  return (await withReadTimeout(READ_TIMEOUT_MS, reading, read()))?.event ?? null;
};
