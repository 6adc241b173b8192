import { AppError, OrderId } from '@cpg/contracts';
import fc from 'fast-check';
import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder } from '../testing/orders.ts';
import {
  createOnce,
  decideRepeat,
  type EarlierCreate,
  type EarlierUse,
  idempotencyOf,
  keptUntil,
  lastUse,
  orderIdOfUse,
} from './create-once.ts';

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

describe('a create', () => {
  const order = existing(after(createOrder()));
  const { merchantId } = order;
  const earlierOf = (changes: Partial<EarlierCreate> = {}): EarlierCreate => ({
    ...used,
    isDeleted: false,
    merchantId,
    created: { order, requestId: 'req_1' },
    ...changes,
  });
  /** Creates an order when some ids are in use. `asked` are the ids that were created and looked up. */
  const create = async (
    recorded: Record<string, EarlierCreate>,
    { fault, endsBy = createdAt }: { fault?: AppError; endsBy?: Date } = {},
  ) => {
    const asked: string[] = [];
    const result = await createOnce(
      { orderId: FIRST, merchantId, requestHash: 'same', requestId: 'req_1' },
      {
        create: async (id) => {
          asked.push(`create ${id}`);
          if (fault) throw fault;
          return recorded[id] ? null : order;
        },
        find: async (id) => {
          asked.push(`find ${id}`);
          return recorded[id] ?? null;
        },
        endsBy: () => endsBy,
      },
    );
    return { ...result, asked };
  };
  const unavailable = new AppError('rate_unavailable', 'no rates');

  test('that is the first of its id reads nothing', async () =>
    expect(await create({})).toEqual({ order, isRepeat: false, asked: [`create ${FIRST}`] }));
  test('that another request sent before is a repeat', async () => {
    expect(await create({ [FIRST]: earlierOf() })).toMatchObject({ order, isRepeat: false });
    expect(await create({ [FIRST]: earlierOf({ created: { order, requestId: 'req_0' } }) })).toMatchObject({
      order,
      isRepeat: true,
    });
  });
  test('with a key that ended makes the next order of the key, and no other', async () => {
    const ended = { [FIRST]: earlierOf() };
    const { asked } = await create(ended, { endsBy: hoursLater(24) });
    expect(asked.at(-1)).toBe(`create ${orderIdOfUse(FIRST, 1)}`);
  });
  test('finds nothing of another merchant, and everything whose owner is not known is refused', async () => {
    await expect(create({ [FIRST]: earlierOf({ merchantId: 'mer_other' }) })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(create({ [FIRST]: { isDeleted: true, merchantId: null } })).rejects.toMatchObject({
      code: 'order_deleted',
    });
  });
  test('that fails is a repeat if the order was recorded, and fails if not, or if that is not known', async () => {
    expect(await create({ [FIRST]: earlierOf() }, { fault: unavailable })).toMatchObject({ order });
    await expect(create({}, { fault: unavailable })).rejects.toBe(unavailable);
    const unknown = new AppError('outcome_unknown', 'lost');
    await expect(create({ [FIRST]: earlierOf() }, { fault: unknown })).rejects.toBe(unknown);
  });
});

test('a key is kept for 24 hours', () => {
  expect(keptUntil(createdAt.toISOString())).toBe(hoursLater(24).toISOString());
  expect(used).toEqual({ requestHash: 'same', until: hoursLater(24).toISOString() });
});
