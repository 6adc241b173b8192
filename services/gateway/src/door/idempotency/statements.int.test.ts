import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { log, startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import {
  orderOf,
  paymentOf,
  projectOrder,
  projectPayment,
  projectRefund,
  refundOf,
} from '../../testing/jest-resources.ts';
import { rolledBack } from '../../testing/jest-rolled-back.ts';
import {
  completeCrashedDeletions,
  completeOrderDeletion,
  deleteResponsesOf,
  isDeleted,
  isDeletionUnanswered,
  orderIdOfPayment,
  orderIdOfRefund,
  recordOrderDeletion,
} from './deleted-resources.ts';
import {
  type Claim,
  claimRequest,
  deleteExpiredRequests,
  findRequest,
  holdInstanceLock,
  isOrderCreatedBy,
  releaseClaim,
  storeResponse,
} from './stored-requests.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const MERCHANT = 'mer_1';
/** The time of a process, `endsBy`. A key ends once it has ended by this time and by the clock of PostgreSQL. A process
 *  that does not trust its clock uses 1970, so that nothing ends. */
const CLOCKS = {
  fast: new Date('2100-01-01T00:00:00Z'),
  'ten hours slow': new Date(Date.now() - 10 * 3_600_000),
  'not trusted': new Date(0),
};
type Clock = keyof typeof CLOCKS;
const { fast: BY_DATABASE_CLOCK, 'not trusted': NEVER } = CLOCKS;
const CLAIM: Claim = {
  ...{
    merchantId: MERCHANT,
    key: 'k1',
    requestHash: 'hash',
    seed: 'SECOND',
    holder: 'request 2',
    instance: 'gateway 2',
  },
  ...{ resource: 'ord_{seed}', endsBy: BY_DATABASE_CLOCK },
};

interface Row {
  readonly hash?: string;
  readonly holder?: string | null;
  readonly instance?: string | null;
  /** When the lease and the key end, from now. */
  readonly lease?: string;
  readonly end?: string;
  readonly status?: number | null;
}

const insertRequest = (db: Queryable, row: Row) => {
  const { hash = 'hash', holder = 'request 1', instance = null, lease = '20 s', end = '1 h', status = null } = row;
  return db.query(
    `insert into gateway.idempotency_keys
       (merchant_id, key, request_hash, seed, holder, instance, leased_until, expires_at, status, answer, sealed, resource_id)
     values ($1, 'k1', $2, 'FIRST', $3, $4, now() + $5::interval, now() + $6::interval, $7, $8, $9, 'ord_FIRST')`,
    [MERCHANT, hash, holder, instance, lease, end, status, status && '{}', status !== null],
  );
};

const storedRow = async (db: Queryable) => {
  const { rows } = await db.query(
    `select request_hash, seed, holder, instance, status, answer, sealed, resource_id, (leased_until - now())::text as lease,
       (expires_at - now())::text as "end" from gateway.idempotency_keys where key = 'k1'`,
  );
  return rows[0];
};

describe('the lease of a key', () => {
  // `FIRST` is the seed of the stored request, `SECOND` that of the new one. Null: the lease is not taken.
  test.each<[string, Row, Partial<Claim>, 'FIRST' | 'SECOND' | null]>([
    ['is held by a request', {}, {}, null],
    ['is held until its last moment', { lease: '1 us' }, {}, null],
    ['has just ended', { lease: '0' }, {}, 'FIRST'],
    ['has ended, but of another request', { lease: '0', hash: 'other' }, {}, null],
    // A lease that ends in more than 90 s was taken while the clock of the database was ahead.
    ['is as long as one can be', { lease: '90 s' }, {}, null],
    ['is longer than one can be', { lease: '90001 ms' }, {}, 'FIRST'],
    ['is of a gateway that is down', { instance: 'gateway 1' }, {}, 'FIRST'],
    ['is of a gateway that is down, but of another request', { instance: 'gateway 1', hash: 'other' }, {}, null],
    ['has ended with a response', { lease: '0', status: 201 }, {}, null],
    ['is of a gateway that is down, with a response', { instance: 'gateway 1', status: 201 }, {}, null],
    ['is of a key that has just expired', { end: '0' }, {}, 'SECOND'],
    ['is of a key that expires in a moment', { end: '1 us' }, {}, null],
    ['is of an expired key with a response', { end: '0', status: 201 }, {}, 'SECOND'],
    ['is of an expired key of another request', { end: '0', hash: 'other' }, {}, 'SECOND'],
    ['is of an expired key while the clock is not trusted', { end: '0' }, { endsBy: NEVER }, null],
    ['has ended while the clock is not trusted', { lease: '0', end: '0' }, { endsBy: NEVER }, 'FIRST'],
  ])('that %s: the claim returns the right seed', (_, row, more, seed) =>
    rolledBack(gateway.pool, async (db) => {
      await insertRequest(db, row);
      const before = await storedRow(db);
      expect(await claimRequest(db, { ...CLAIM, ...more })).toBe(seed);
      expect(await storedRow(db)).toEqual(
        seed === null
          ? before
          : {
              ...{ request_hash: 'hash', seed, holder: 'request 2', instance: 'gateway 2', status: null, answer: null },
              ...{ sealed: false, resource_id: `ord_${seed}`, lease: '00:00:30' },
              end: seed === 'SECOND' ? '1 day' : before.end,
            },
      );
    }),
  );

  test('of a new key lasts 30 seconds, and the key a day', () =>
    rolledBack(gateway.pool, async (db) => {
      expect(await claimRequest(db, CLAIM)).toBe('SECOND');
      expect(await storedRow(db)).toMatchObject({ lease: '00:00:30', end: '1 day', resource_id: 'ord_SECOND' });
    }));

  test('is held while its gateway holds its own lock', async () => {
    const other = await gateway.pool.connect();
    try {
      // A gateway holds a lock on its name as long as it lives.
      await other.query("select pg_advisory_lock(hashtextextended('gateway 1', 1))");
      await rolledBack(gateway.pool, async (db) => {
        await insertRequest(db, { instance: 'gateway 1' });
        expect(await claimRequest(db, CLAIM)).toBeNull();
      });
    } finally {
      await other.query('select pg_advisory_unlock_all()');
      other.release();
    }
  });

  test.each<['stores' | 'releases', (db: Queryable, claim: Claim) => Promise<void>, object]>([
    [
      'stores',
      (db, claim) => storeResponse(db, claim, { status: 201, text: 'text', sealed: true }),
      { status: 201, answer: 'text', sealed: true, holder: null, lease: '00:00:20' },
    ],
    ['releases', releaseClaim, { status: null, answer: null, sealed: false, holder: null, lease: '00:00:00' }],
  ])('only its holder %s it', (_, end, ended) =>
    rolledBack(gateway.pool, async (db) => {
      await insertRequest(db, { holder: 'request 1' });
      const before = await storedRow(db);
      await end(db, { ...CLAIM, holder: 'request 2' });
      expect(await storedRow(db)).toEqual(before);
      await end(db, { ...CLAIM, holder: 'request 1' });
      expect(await storedRow(db)).toEqual({ ...before, ...ended });
    }),
  );

  test('shows what is stored under a key', () =>
    rolledBack(gateway.pool, async (db) => {
      await insertRequest(db, { status: 201 });
      const stored = { request_hash: 'hash', seed: 'FIRST', status: 201, answer: '{}', sealed: true };
      expect(await findRequest(db, CLAIM)).toEqual({ ...stored, resource_id: 'ord_FIRST' });
      expect(await findRequest(db, { ...CLAIM, key: 'k2' })).toBeNull();
    }));
});

test('a gateway has the name of its lock until it stops', async () => {
  const database = await testDatabase();
  const lock = holdInstanceLock({ url: database.url, log });
  while (lock.instanceName() === null) await sleep(5);
  expect(lock.instanceName()).toMatch(/^gateway req_/);
  await lock.stop();
  expect(lock.instanceName()).toBeNull();
  await database.drop();
});

test.each<[string, Clock, number]>([
  ['0 s', 'fast', 1],
  ['1 us', 'fast', 0],
  ['-1 h', 'not trusted', 0],
])('a key that ends in %s, while the clock is %s, is deleted: %i', (end, clock, deleted) =>
  rolledBack(gateway.pool, async (db) => {
    await insertRequest(db, { end });
    expect(await deleteExpiredRequests(db, CLOCKS[clock])).toBe(deleted);
    expect(await storedRow(db)).toEqual(deleted === 1 ? undefined : expect.anything());
  }),
);

test('expired keys are deleted in more than one batch', () =>
  rolledBack(gateway.pool, async (db) => {
    await db.query(
      `insert into gateway.idempotency_keys (merchant_id, key, request_hash, seed, leased_until, expires_at)
       select $1, n::text, 'hash', 'seed', now(), now() from generate_series(1, 5001) as n`,
      [MERCHANT],
    );
    expect(await deleteExpiredRequests(db, BY_DATABASE_CLOCK)).toBe(5_001);
  }));

const ORDER = `ord_${'1'.repeat(26)}`;

test.each<[string, Clock, boolean]>([
  ['24 h', 'fast', false],
  ['86399 s', 'fast', true],
  ['30 h', 'ten hours slow', true],
  ['36 h', 'ten hours slow', false],
])('an order of %s ago was created while its key is kept, if the clock is %s: %s', (age, clock, isKept) =>
  rolledBack(gateway.pool, async (db) => {
    await projectOrder(db, orderOf(ORDER, MERCHANT));
    await db.query('update orders.orders set created_at = now() - $1::interval', [age]);
    expect(await isOrderCreatedBy(db, ORDER, CLOCKS[clock])).toBe(isKept);
    expect(await isOrderCreatedBy(db, `${ORDER}2`, CLOCKS[clock])).toBe(false);
  }),
);

const deleteOrder = (db: Queryable) => db.query('update orders.orders set deleted = true, resource = null');
const recorded = async (db: Queryable) =>
  (await db.query('select completed, (now() - started_at)::text as age from gateway.order_deletions')).rows;
const shown = async (db: Queryable) => (await storedRow(db)).answer;

/** An order of the merchant with a stored response that shows it. */
const withOrder = (work: (db: Pool) => Promise<void>) =>
  rolledBack(gateway.pool, async (db) => {
    await projectOrder(db, orderOf(ORDER, MERCHANT));
    await insertRequest(db, { status: 201 });
    await db.query('update gateway.idempotency_keys set resource_id = $1', [ORDER]);
    await work(db);
  });

describe('the deletion of an order', () => {
  test('is recorded before it, again for a repeat, and never after it', () =>
    withOrder(async (db) => {
      await recordOrderDeletion(db, MERCHANT, ORDER);
      await db.query("update gateway.order_deletions set started_at = now() - interval '1 h'");
      await recordOrderDeletion(db, MERCHANT, ORDER);
      expect(await recorded(db)).toEqual([{ completed: false, age: '00:00:00' }]);
      await db.query('delete from gateway.order_deletions');
      await deleteOrder(db);
      await recordOrderDeletion(db, MERCHANT, ORDER);
      expect(await recorded(db)).toEqual([]);
    }));

  test('is unanswered once the order is gone, until its request gets the answer', () =>
    withOrder(async (db) => {
      const isUnanswered = () => isDeletionUnanswered(db, MERCHANT, ORDER);
      await recordOrderDeletion(db, MERCHANT, ORDER);
      expect([await isUnanswered(), await isDeleted(db, MERCHANT, ORDER)]).toEqual([false, false]);
      await completeOrderDeletion(db, MERCHANT, ORDER, { isAnswered: true });
      expect([await recorded(db), await shown(db)]).toEqual([[{ completed: false, age: '00:00:00' }], '{}']);
      await deleteOrder(db);
      expect([await isUnanswered(), await isDeleted(db, MERCHANT, ORDER)]).toEqual([true, true]);
      await completeOrderDeletion(db, MERCHANT, ORDER, { isAnswered: false });
      expect([await isUnanswered(), await shown(db)]).toEqual([true, null]);
      await completeOrderDeletion(db, MERCHANT, ORDER, { isAnswered: true });
      expect([await isUnanswered(), await recorded(db)]).toEqual([false, []]);
    }));

  test('that a crashed gateway left is completed once', () =>
    withOrder(async (db) => {
      await recordOrderDeletion(db, MERCHANT, ORDER);
      expect([await completeCrashedDeletions(db, BY_DATABASE_CLOCK), await shown(db)]).toEqual([0, '{}']);
      await deleteOrder(db);
      expect([await completeCrashedDeletions(db, BY_DATABASE_CLOCK), await shown(db)]).toEqual([1, null]);
      expect([await completeCrashedDeletions(db, BY_DATABASE_CLOCK), await recorded(db)]).toEqual([
        0,
        [{ completed: true, age: '00:00:00' }],
      ]);
    }));

  test.each<[string, Clock, boolean]>([
    ['2 days', 'fast', true],
    ['2 days 1 s', 'fast', false],
    ['2 days 1 s', 'not trusted', true],
  ])('of %s ago is still recorded, while the clock is %s: %s', (age, clock, isKept) =>
    withOrder(async (db) => {
      await recordOrderDeletion(db, MERCHANT, ORDER);
      await db.query('update gateway.order_deletions set started_at = now() - $1::interval', [age]);
      await completeCrashedDeletions(db, CLOCKS[clock]);
      expect(await recorded(db)).toHaveLength(isKept ? 1 : 0);
    }),
  );
});

test('a deletion turns the stored response into 410 and ends the lease, so that a running request stores nothing', () =>
  withOrder(async (db) => {
    await deleteResponsesOf(db, MERCHANT, ORDER);
    expect(await storedRow(db)).toMatchObject({ status: 410, answer: null, sealed: false, holder: null });
  }));

test('a payment names its order; an unknown payment none', () =>
  rolledBack(gateway.pool, async (db) => {
    await projectPayment(db, paymentOf('pay_1', MERCHANT, { order_id: ORDER }));
    expect([await orderIdOfPayment(db, 'pay_1'), await orderIdOfPayment(db, 'pay_2')]).toEqual([ORDER, null]);
  }));

test('a refund names the order of its payment; an unknown refund none', () =>
  rolledBack(gateway.pool, async (db) => {
    await projectRefund(db, refundOf('rfd_1', MERCHANT, { order_id: ORDER }));
    expect([await orderIdOfRefund(db, 'rfd_1'), await orderIdOfRefund(db, 'rfd_2')]).toEqual([ORDER, null]);
  }));

test('a webhook is deleted for its merchant once it has the time of its deletion', () =>
  rolledBack(gateway.pool, async (db) => {
    const { id: merchant } = await gateway.merchant();
    await db.query(
      `insert into gateway.webhooks (id, merchant_id, url, events, secret_box, secret_seed, created_at)
       values ('whk_1', $1, 'https://shop.example', '{}', '', '', now())`,
      [merchant],
    );
    expect(await isDeleted(db, merchant, 'whk_1')).toBe(false);
    await db.query('update gateway.webhooks set deleted_at = now()');
    expect(await isDeleted(db, merchant, 'whk_1')).toBe(true);
  }));
