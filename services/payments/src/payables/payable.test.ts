import { UnreadableEventError } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { logEntry } from '../testing/jest-log-entries.ts';
import { deposit as depositAt, page as pageOf } from '../testing/jest-order-events.ts';
import { addressesShownBy, indexesOf, payableChangeAbout, payableChangeIn, receivingIndex } from './payable.ts';

const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
const AT = '2026-01-31T12:00:00.000Z';
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const derivation = { fingerprint: '3442193e', path: '0/17' };
const deposit = { ...depositAt(ADDRESS, 17, 'ethereum'), derivation };
const page = { ...pageOf('REF'), provider: 'acme' };

const entryOf = (type: string, data: unknown, { streamId = `order-${ORDER}`, isJson = true } = {}) =>
  logEntry(streamId, type, data, { isJson, revision: 4 });
const merchantOf = async (orderId: string) => (orderId === ORDER ? MERCHANT : null);

const created = (instructions?: object[]) =>
  entryOf('OrderCreated', { orderId: ORDER, merchantId: MERCHANT, ...(instructions && { instructions }), at: AT });
const instructed = (streamId?: string) =>
  entryOf('OrderInstructed', { instructions: [page], at: AT }, { ...(streamId && { streamId }) });
const deletion = (payables: object[]) => ({
  orderId: ORDER,
  merchantId: MERCHANT,
  actor: 'a',
  lastHash: 'h',
  paymentIds: [],
  sequence: 3,
  payables,
  at: AT,
});
const kept = { rail: 'crypto_deposit', network: 'ethereum', address: ADDRESS, derivation };
const assigned = { currency: 'USDC', at: AT };
const owner = { orderId: ORDER, merchantId: MERCHANT };
const reserved = { account: '3442193e', first: 5, count: 2, again: [1], at: AT };

test.each<[string, AllStreamResolvedEvent, object | null]>([
  [
    'a new order',
    created([deposit, page]),
    {
      kind: 'assigned',
      payables: [
        { ...owner, instruction: deposit, assigned },
        { ...owner, instruction: page, assigned },
      ],
    },
  ],
  ['an order without instructions', created(), { kind: 'assigned', payables: [] }],
  ['its instructions', instructed(), { kind: 'assigned', payables: [{ ...owner, instruction: page, assigned }] }],
  ['instructions of an unknown order', instructed('order-ord_unknown'), null],
  [
    'the deletion of an order',
    entryOf('OrderDeletionRecorded', deletion([kept])),
    { kind: 'deleted', payables: [{ ...owner, instruction: kept, assigned: null }] },
  ],
  [
    'a reservation of indexes',
    entryOf('DerivationIndexesReserved', reserved),
    { kind: 'reserved', account: '3442193e', indexes: [1, 5, 6], skipped: false, next: 7, revision: 4 },
  ],
  [
    'indexes that no order gets',
    entryOf('DerivationIndexesReserved', { ...reserved, skipped: true }),
    { kind: 'reserved', account: '3442193e', indexes: [1, 5, 6], skipped: true, next: 7, revision: 4 },
  ],
  ['the payment of an order', entryOf('OrderPaid', { reason: 'r', at: AT }), null],
])('the log says of %s where it can be paid', async (_, entry, change) =>
  expect(await payableChangeIn(entry, merchantOf)).toEqual(change),
);

describe('an event that cannot be read', () => {
  const broken = (data: object, isJson = true) => entryOf('OrderCreated', { ...data, orderId: 7 }, { isJson });

  test('stops the search for what it may show', async () => {
    const shows = broken({ instructions: [{ address: ADDRESS }] });
    await expect(payableChangeAbout(ADDRESS, shows, merchantOf)).rejects.toBeInstanceOf(UnreadableEventError);
    expect(await payableChangeAbout('0xother', shows, merchantOf)).toBeNull();
    await expect(payableChangeAbout('0xother', broken({}, false), merchantOf)).rejects.toBeInstanceOf(
      UnreadableEventError,
    );
  });
  test('is told apart from an outage', () =>
    expect(payableChangeAbout('0xother', instructed(), () => Promise.reject(new Error('no answer')))).rejects.toThrow(
      'no answer',
    ));
});

test('the addresses of an event are found wherever they are', () => {
  const nested = { instructions: [{ ...page, deposits: [{ address: '0xA1' }] }, { address: '0xA2' }, null] };
  expect(addressesShownBy(entryOf('OrderCreated', nested))).toEqual(['0xA1', '0xA2']);
  expect(addressesShownBy(entryOf('OrderInstructed', { address: 7, later: { address: '0xA3' } }))).toEqual(['0xA3']);
  expect(addressesShownBy(entryOf('OrderDeletionRecorded', { payables: [kept] }))).toEqual([ADDRESS]);
  expect(addressesShownBy(entryOf('OrderUpdated', { metadata: { address: '0xA4' } }))).toEqual([]);
});

test('only a path of the receiving branch has an index', () => {
  expect(['0/0', '0/17'].map(receivingIndex)).toEqual([0, 17]);
  for (const path of ['1/17', '0', '0/', '0/x', '0/1/2', '/1', ''])
    expect([path, receivingIndex(path)]).toEqual([path, null]);
});

test('a reservation has the earlier indexes first', () =>
  expect(indexesOf({ first: 5, count: 3, again: [2, 9] })).toEqual([2, 9, 5, 6, 7]));
