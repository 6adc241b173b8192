import { AppError } from '@cpg/contracts';
import { createLogger } from '@cpg/platform';
import type { ExistingOrder } from '../order/state.ts';
import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder, deposit, DUE, instruction, minutesAfterNoon, offer } from '../testing/orders.ts';
import { unreadChains } from './unread-chains.ts';

const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };
const log = createLogger({ name: 'orders', level: 'silent' });
const orderOf = (...instructions: NonNullable<Parameters<typeof createOrder>[0]>['instructions'] & object) =>
  existing(after(createOrder({ instructions })));
const HOUR = 60;

/** Chains of which payments still waits for these. */
const chains = (first: string[] | Error, { minutes = HOUR, ms = 0, unreportedAt = '' } = {}) => {
  const calls: object[] = [];
  const unread: string[] = [];
  const warnings: string[] = [];
  const clock = { now: minutesAfterNoon(minutes), ms };
  let waitingFor = first;
  const awaits = unreadChains({
    payments: {
      chainsWaiting: async (call) => {
        calls.push(call);
        const listed = waitingFor;
        if (listed instanceof Error) throw listed;
        const waiting = call.networks.filter((network) => listed.includes(network));
        const unreported = call.addresses?.includes(unreportedAt) ? call.networks : [];
        return { waiting_for: [...new Set([...waiting, ...unreported])], unreported };
      },
      providersWaiting: async (call) => {
        calls.push(call);
        const listed = waitingFor;
        if (listed instanceof Error) throw listed;
        const asked = call.references.map(({ provider }) => provider);
        return { waiting_for: asked.filter((provider) => listed.includes(provider)) };
      },
    },
    now: () => clock.now,
    nowMs: () => clock.ms,
    log: { ...log, warn: (_: unknown, message = '') => void warnings.push(message), error: () => {} },
    countUnread: (network) => void unread.push(network),
  });
  return {
    calls,
    unread,
    warnings,
    clock,
    setWaitingFor: (next: string[] | Error) => void (waitingFor = next),
    awaits: (order: ExistingOrder) => awaits(order, CONTEXT),
  };
};

const atAcme = (reference = 'REF') => ({ ...instruction, provider: 'acme', paymentReference: reference });

test('asks nobody about an order without deposit addresses and outside providers', async () => {
  const { awaits, calls } = chains(['ethereum']);
  expect(await awaits(orderOf(instruction))).toBe(false);
  expect(calls).toEqual([]);
});

test('an order waits for each of its networks, also for those behind a payment page', async () => {
  const networks = ['bitcoin', 'ethereum'];
  const page = { ...instruction, deposits: [{ ...deposit('ethereum'), rail: undefined, currency: undefined }] };
  const { awaits, calls } = chains(['ethereum']);
  expect(await awaits(orderOf(deposit('bitcoin'), page as never))).toBe(true);
  expect(calls).toEqual([{ networks, addresses: [deposit('bitcoin').address], at: DUE }]);
  expect(await awaits(orderOf(deposit('bitcoin')))).toBe(false);
});

test('an answer holds for half a second for the same and later deadlines', async () => {
  const { awaits, calls, clock } = chains(['ethereum']);
  const order = orderOf(deposit('ethereum'));
  for (let look = 0; look < 50; look += 1) expect(await awaits(order)).toBe(true);
  expect(calls).toHaveLength(1);
  await awaits({ ...order, expiresAt: minutesAfterNoon(HOUR - 1).toISOString() });
  expect(calls).toHaveLength(2);
  clock.now = minutesAfterNoon(0);
  clock.ms += 500;
  await awaits(order);
  expect(calls).toHaveLength(3);
});

test('a deposit that is not recorded holds the order of its address, and no other one', async () => {
  const { awaits, calls } = chains([], { unreportedAt: '0xA1' });
  const held = orderOf({ ...deposit('ethereum'), address: '0xA1' });
  expect(await awaits(held)).toBe(true);
  expect(await awaits(orderOf({ ...deposit('ethereum'), address: '0xA2' }))).toBe(false);
  expect(await awaits(held)).toBe(true);
  expect(calls).toHaveLength(3);
});

test.each([
  ['is unavailable', new AppError('dependency_unavailable', 'unavailable'), false],
  ['has no such route', new AppError('not_found', 'no such route'), true],
  ['fails', new AppError('internal_error', 'payments answered 500'), true],
  ['gives an answer that cannot be read', new SyntaxError('Unexpected token < in JSON'), true],
])('an order does not end while payments %s', async (_, failure, isWarned) => {
  for (const where of [deposit('ethereum'), atAcme()]) {
    const { awaits, warnings } = chains(failure);
    expect(await awaits(orderOf(where))).toBe(true);
    expect(warnings).toEqual(isWarned ? [expect.stringMatching(/^payments gave no usable answer/)] : []);
  }
});

test('a pause is longer than five minutes', async () => {
  const { awaits, clock, setWaitingFor } = chains([], { minutes: 48 * HOUR });
  const order = orderOf(deposit('ethereum'));
  expect(await awaits(order)).toBe(false);
  setWaitingFor(['ethereum']);
  clock.ms += 300_000;
  expect(await awaits(order)).toBe(false);
  clock.ms += 300_001;
  expect(await awaits(order)).toBe(true);
});

test.each([[['ethereum']], [new AppError('internal_error', 'payments answered 500')]])(
  'an order waits for 24 hours and then ends with an alarm: %s',
  async (waitingFor) => {
    const { awaits, unread, clock, setWaitingFor } = chains([], { minutes: 25 * HOUR - 1 });
    const order = orderOf(deposit('ethereum'));
    expect(await awaits(order)).toBe(false);
    setWaitingFor(waitingFor);
    expect(await awaits(order)).toBe(true);
    expect(unread).toEqual([]);
    clock.now = minutesAfterNoon(25 * HOUR);
    expect(await awaits(order)).toBe(false);
    expect(unread).toEqual(['ethereum']);
  },
);

test('no alarm for an order that ends late although its chains were read', async () => {
  const { awaits, unread } = chains([], { minutes: 30 * HOUR });
  expect(await awaits(orderOf(deposit('ethereum')))).toBe(false);
  expect(unread).toEqual([]);
});

test('after a stop of days, an order waits until its chain was read once', async () => {
  const { awaits, unread, clock, setWaitingFor } = chains(['ethereum'], { minutes: 48 * HOUR });
  const order = orderOf(deposit('ethereum'));
  expect(await awaits(order)).toBe(true);
  clock.now = minutesAfterNoon(48 * HOUR + 1);
  clock.ms += 60_000;
  setWaitingFor([]);
  expect(await awaits(order)).toBe(false);
  expect(unread).toEqual([]);
});

test('after a pause of this process too, and for at most 24 hours in which it runs', async () => {
  const { awaits, unread, clock, setWaitingFor } = chains([], { minutes: 48 * HOUR });
  const order = orderOf(deposit('ethereum'));
  expect(await awaits(order)).toBe(false);
  setWaitingFor(['ethereum']);
  expect(await awaits(order)).toBe(false);
  expect(unread).toEqual(['ethereum']);
  clock.ms = 48 * 3_600_000;
  for (let minute = 0; minute < 24 * HOUR; minute += 1) {
    clock.now = minutesAfterNoon(96 * HOUR + minute);
    expect(await awaits(order)).toBe(true);
    clock.ms += 60_000;
  }
  clock.now = minutesAfterNoon(120 * HOUR);
  expect(await awaits(order)).toBe(false);
});

test('asks the outside provider of each order, and waits for its answer', async () => {
  const { awaits, calls, setWaitingFor } = chains(['acme']);
  const [one, other] = [orderOf(atAcme('ONE')), orderOf(atAcme('OTHER'), deposit('ethereum'))];
  expect(await awaits(one)).toBe(true);
  expect(await awaits(other)).toBe(true);
  setWaitingFor([]);
  expect(await awaits(one)).toBe(false);
  expect(await awaits(other)).toBe(false);
  const asked = calls.filter((call) => 'references' in call);
  const references = ['ONE', 'OTHER', 'ONE', 'OTHER'].map((reference) => [{ provider: 'acme', reference }]);
  expect(asked).toEqual(references.map((each) => ({ references: each })));
});

test('while payments is unavailable, it is asked twice a second', async () => {
  const { awaits, calls } = chains(new AppError('dependency_unavailable', 'unavailable'));
  for (let look = 0; look < 50; look += 1) expect(await awaits(orderOf(atAcme()))).toBe(true);
  expect(calls).toHaveLength(1);
  for (let look = 0; look < 50; look += 1) expect(await awaits(orderOf(deposit('ethereum')))).toBe(true);
  expect(calls).toHaveLength(2);
});

test('after a stop of days, an order waits for the answer of its provider, whatever it answered for others', async () => {
  const { awaits, unread, clock, setWaitingFor } = chains([], { minutes: 48 * HOUR });
  expect(await awaits(orderOf(atAcme('OTHER')))).toBe(false);
  setWaitingFor(['acme']);
  expect(await awaits(orderOf(atAcme()))).toBe(true);
  for (let minute = 0; minute < 24 * HOUR; minute += 1) {
    clock.now = minutesAfterNoon(48 * HOUR + minute);
    expect(await awaits(orderOf(atAcme()))).toBe(true);
    clock.ms += 60_000;
  }
  clock.ms -= 1;
  expect(await awaits(orderOf(atAcme()))).toBe(true);
  clock.ms += 1;
  expect(await awaits(orderOf(atAcme()))).toBe(false);
  expect(unread).toEqual(['acme']);
});

test('after a stop of days, an order waits for a deposit that is not recorded yet', async () => {
  const { awaits } = chains([], { minutes: 48 * HOUR, unreportedAt: '0xA1' });
  expect(await awaits(orderOf({ ...deposit('ethereum'), address: '0xA2' }))).toBe(false);
  expect(await awaits(orderOf({ ...deposit('ethereum'), address: '0xA1' }))).toBe(true);
});

test('after a stop of days, an order waits an hour for the confirmation of a payment that was made in time', async () => {
  const { awaits, clock, unread } = chains([], { minutes: 48 * HOUR, ms: 7_200_000 });
  const created = createOrder({ instructions: [deposit('ethereum')] });
  const seenIn = (minutes: number) =>
    offer(1, 10_000_000n, { confirmed: false, seenAt: minutesAfterNoon(minutes).toISOString(), at: clock.now });
  const [inTime, late] = [existing(after(created, seenIn(59))), existing(after(created, seenIn(61)))];
  for (let minute = 0; minute < HOUR; minute += 1) {
    expect(await awaits(inTime)).toBe(true);
    expect(await awaits(late)).toBe(false);
    expect(await awaits(existing(after(createOrder(), seenIn(59))))).toBe(false);
    clock.ms += 60_000;
  }
  clock.ms -= 1;
  expect(await awaits(inTime)).toBe(true);
  clock.ms += 1;
  expect(await awaits(inTime)).toBe(false);
  expect(unread).toEqual([]);
});
