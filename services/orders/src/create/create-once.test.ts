import { OrderId } from '@cpg/contracts';
import fc from 'fast-check';
import { decideRepeat, type EarlierUse, idempotencyOf, lastUse, orderIdOfUse } from './create-once.ts';

const FIRST = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const createdAt = new Date('2026-01-31T12:00:00.000Z');
const hoursLater = (hours: number, ms = 0) => new Date(createdAt.getTime() + hours * 3_600_000 + ms);

const given = (earlier: Partial<EarlierUse> = {}) => ({
  when: (requestHash: string | undefined, at: Date) => ({
    then: (decision: 'repeat' | 'expired') =>
      expect(decideRepeat({ isDeleted: false, ...earlier }, { requestHash, at })).toBe(decision),
    thenRefused: (code: string) =>
      expect(() => decideRepeat({ isDeleted: false, ...earlier }, { requestHash, at })).toThrow(
        expect.objectContaining({ code }),
      ),
  }),
});
const used = idempotencyOf('same', createdAt);
const deleted = { ...used, isDeleted: true };

test('the same request gets the order for 24 hours', () => given(used).when('same', hoursLater(24, -1)).then('repeat'));
test('the key expires after 24 hours', () => given(used).when('same', hoursLater(24)).then('expired'));
test('another request is refused for 24 hours', () =>
  given(used).when('other', hoursLater(24, -1)).thenRefused('idempotency_key_reused'));
test('another request can use an expired key', () => given(used).when('other', hoursLater(24)).then('expired'));
test('the same request after the deletion is refused', () =>
  given(deleted).when('same', hoursLater(24, -1)).thenRefused('order_deleted'));
test('another request after the deletion is another request', () =>
  given(deleted).when('other', hoursLater(1)).thenRefused('idempotency_key_reused'));
test('an expired key of a deleted order can be used again', () =>
  given(deleted).when('same', hoursLater(24)).then('expired'));
test('an order without a fingerprint is that of every request with its id', () =>
  given({ until: used.until }).when('any', hoursLater(1)).then('repeat'));
test('an id that was made for one request never expires', () =>
  given(used).when(undefined, hoursLater(99)).then('repeat'));
test('a deleted order without a deletion record is never created again', () =>
  given({ isDeleted: true }).when('any', hoursLater(99)).thenRefused('order_deleted'));

test('each use of a key has an order id of its own, the same in every process and version', () => {
  expect([0, 1, 2].map((use) => orderIdOfUse(FIRST, use))).toEqual([
    FIRST,
    'ord_7MV0HVSCD8J44XPK7HS2VFK5J4',
    'ord_56TV5TYJ567CTHK57D07XRF6N7',
  ]);
  fc.assert(fc.property(fc.nat(), (use) => OrderId.safeParse(orderIdOfUse(FIRST, use)).success));
});

test('the last use of a key is found with few look-ups', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(10_000), async (last) => {
      let lookUps = 0;
      const found = await lastUse(async (use) => {
        lookUps += 1;
        return use <= last;
      });
      expect(found).toBe(last);
      expect(lookUps).toBeLessThanOrEqual(2 * Math.log2(last + 1) + 2);
    }),
  );
});
