import { PaymentCurrency, SCALES_STREAM, scalesOf } from '@cpg/contracts';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { AnyEvent, commandHandler, readStream, tombstone } from '@cpg/event-sourcing';
import { recordScale, requireRecordedScales, withRecordedScales } from './currency-scales.ts';
import { startTestStore } from '../../../event-sourcing/src/testing/jest-event-store.ts';

let store: Awaited<ReturnType<typeof startTestStore>>;
let client: EventStoreDBClient;

// The tests build on each other: a store has one stream of scales.
beforeAll(async () => {
  store = await startTestStore();
  client = store.client;
});

afterAll(() => store.stop());

const recorded = async () =>
  (await readStream(client, SCALES_STREAM, AnyEvent))!.map(
    ({ event }) => `${event.data.currency} ${event.data.decimals}`,
  );

const context = { actor: 'test', requestId: 'req_1', correlationId: 'cor_1' };

const caz = (CAZ_DECIMALS: number) => scalesOf({ CAZ_DECIMALS });

/** A till whose command `Pay` stores an amount of CAZ, with these decimals. */
const till = (decimals = 18) =>
  withRecordedScales(
    commandHandler<null, { type: 'Pay' | 'Close' }, AnyEvent>({
      client,
      decider: {
        initial: null,
        decide: ({ type }) => [{ type, data: { at: '2026-01-31T12:00:00.000Z' } }],
        evolve: () => null,
      },
      schema: AnyEvent,
      newEvent: AnyEvent,
      streamOf: (id) => id,
    }),
    { client, actor: 'test', scaleOf: ({ type }) => (type === 'Pay' ? { currency: 'CAZ', decimals } : null) },
  );

test('decimals can be changed until an amount is stored', async () => {
  await till().handle('till-1', { type: 'Close' }, context);
  await recordScale(client, { currency: 'BTC', decimals: 8 }, 'test');
  expect(await requireRecordedScales(client, caz(2))).toEqual(new Set(['BTC']));
});

test('a command that stores an amount records the decimals before', async () => {
  await till(6).handle('till-1', { type: 'Pay' }, context);
  expect(await recorded()).toEqual(['BTC 8', 'CAZ 6']);
  expect(await requireRecordedScales(client, caz(6))).toEqual(new Set(['BTC', 'CAZ']));
});

test('amounts keep their decimals: another configuration is refused with what to set', async () => {
  const refusal =
    /^CAZ_DECIMALS is 18, but the amounts of CAZ in this event store have 6 decimals: set CAZ_DECIMALS=6 for all services/;
  await expect(requireRecordedScales(client, caz(18))).rejects.toThrow(refusal);
  await expect(recordScale(client, { currency: 'CAZ', decimals: 18 }, 'test')).rejects.toThrow(refusal);
  await expect(till().handle('till-2', { type: 'Pay' }, context)).rejects.toMatchObject({
    code: 'dependency_unavailable',
    message: 'CAZ is not available: try again later',
    cause: { message: expect.stringMatching(refusal) },
  });
  expect(await readStream(client, 'till-2', AnyEvent)).toEqual([]);
  await till().handle('till-2', { type: 'Close' }, context);
  expect(await recorded()).toEqual(['BTC 8', 'CAZ 6']);
});

test('processes that store the first amounts together record each currency once', async () => {
  const scales = caz(6);
  const all = Array.from({ length: 4 }, () =>
    PaymentCurrency.options.map((currency) => recordScale(client, { currency, decimals: scales[currency] }, 'test')),
  );
  await Promise.all(all.flat());
  expect((await recorded()).sort()).toEqual(['BTC 8', 'CAZ 6', 'ETH 18', 'USDC 6', 'USDG 6', 'USDT 6']);
});

test('does not go on without the record that it had', async () => {
  await tombstone(client, SCALES_STREAM);
  await expect(requireRecordedScales(client, caz(6))).rejects.toThrow(/currency-scales was deleted: restore/);
});
