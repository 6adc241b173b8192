import { newId } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, projectOrder, projectRefund, refundOf } from '../../testing/jest-resources.ts';
import { rolledBack } from '../../testing/jest-rolled-back.ts';
import {
  changedCheckoutOrders,
  chainHeights,
  checkoutOrder,
  unsettledRefunds,
  transferDepths,
} from './checkout-queries.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const insertTransfer = (db: Queryable, network: string, id: string, height: number | null, required: number | null) =>
  db.query(
    `insert into payments.chain_transfers (network, id, address, asset, units, seen_at, height, required)
     values ($1, $2, '', '', 1, now(), $3, $4)`,
    [network, id, height, required],
  );
const insertChain = (db: Queryable, network: string, height: number | null) =>
  db.query('insert into payments.chain_cursors (network, height) values ($1, $2)', [network, height]);

test('a transfer has a confirmation in its own block, and none before it is in one', () =>
  rolledBack(gateway.pool, async (db) => {
    await insertChain(db, 'a', 100);
    await insertChain(db, 'b', 7);
    const heights = { same: 100, older: 95, ahead: 102, pending: null };
    for (const [id, height] of Object.entries(heights))
      await insertTransfer(db, 'a', id, height, id === 'same' ? 6 : null);
    await insertTransfer(db, 'b', 'same', 5, 2);
    await insertTransfer(db, 'unread', 'same', 5, 2);
    const refs = [...Object.keys(heights), 'unknown'].map((id) => ({ network: 'a', id }));
    const found = await transferDepths(db, [...refs, { network: 'b', id: 'same' }, { network: 'unread', id: 'same' }]);
    const depths = found.map(({ network, id, confirmations, required }) => [network, id, confirmations, required]);
    expect(depths.sort()).toEqual([
      ['a', 'ahead', 0, null],
      ['a', 'older', 6, null],
      ['a', 'pending', 0, null],
      ['a', 'same', 1, 6],
      ['b', 'same', 3, 2],
    ]);
  }));

test('without transfers nothing is asked', async () => {
  const db = { query: () => Promise.reject(new Error('asked')) } as unknown as Queryable;
  expect(await transferDepths(db, [])).toEqual([]);
});

test('heights change with each block of each network', () =>
  rolledBack(gateway.pool, async (db) => {
    expect(await chainHeights(db)).toBe('');
    await insertChain(db, 'b', 7);
    await insertChain(db, 'a', null);
    expect(await chainHeights(db)).toBe('a ,b 7');
    await db.query("update payments.chain_cursors set height = 8 where network = 'b'");
    expect(await chainHeights(db)).toBe('a ,b 8');
  }));

test('an order shows the settings of its merchant until it is deleted', () =>
  rolledBack(gateway.pool, async (db) => {
    await projectOrder(db, orderOf('ord_1', shop.id));
    const find = () => checkoutOrder(db, shop.id, 'ord_1');
    expect(await find()).toMatchObject({
      order: { id: 'ord_1' },
      revision: 0,
      settings: { display_name: 'Ada Byron' },
    });
    await db.query(
      `insert into gateway.payment_page_settings (merchant_id, display_name, frame_ancestors, updated_at)
       values ($1, 'Shop', '{}', now())`,
      [shop.id],
    );
    expect(await find()).toMatchObject({ settings: { display_name: 'Shop' } });
    await db.query('update orders.orders set deleted = true, resource = null');
    expect(await find()).toBeNull();
  }));

test('finds the unsettled refunds of an order, with the claim links that the page shows', () =>
  rolledBack(gateway.pool, async (db) => {
    const insert = async (hash: string, change: string) => {
      const refund = refundOf(newId('refund'), shop.id, { order_id: 'ord_1' });
      await projectRefund(db, refund);
      await db.query(
        `update payments.refunds set status = 'pending', claim_hash = $2, claim_on_page = true where id = $1`,
        [refund.id, hash],
      );
      await db.query(`update payments.refunds set ${change} where id = $1`, [refund.id]);
      return refund;
    };
    const shown = await insert('shown', "status = 'pending'");
    const hidden = await insert('hidden', 'claim_on_page = false');
    const confirmed = await insert('confirmed', "destination = '0x01'");
    const sent = await insert('sent', "status = 'sent'");
    for (const change of ["status = 'canceled'", "status = 'settled'", "status = 'recorded'", "order_id = 'ord_2'"])
      await insert(change, change);
    expect(await unsettledRefunds(db, shop.id, 'ord_1')).toEqual([
      { hash: 'shown', refund: shown },
      ...[hidden, confirmed, sent].map((refund) => ({ hash: null, refund })),
    ]);
    expect(await unsettledRefunds(db, newId('merchant'), 'ord_1')).toEqual([]);
  }));

test('an order has changed when its row has another revision', () =>
  rolledBack(gateway.pool, async (db) => {
    for (const [id, revision] of Object.entries({
      ord_same: 3,
      ord_newer: 4,
      ord_older: 2,
      ord_deleted: 9,
      ord_other: 9,
    })) {
      await projectOrder(db, orderOf(id, shop.id));
      await db.query('update orders.orders set revision = $2 where id = $1', [id, revision]);
    }
    await db.query("update orders.orders set deleted = true, resource = null where id = 'ord_deleted'");
    const known = new Map(['ord_same', 'ord_newer', 'ord_older', 'ord_deleted', 'ord_gone'].map((id) => [id, 3]));
    const changed = await changedCheckoutOrders(db, known);
    expect([...changed].map(([id, found]) => [id, found?.revision ?? null]).sort()).toEqual([
      ['ord_deleted', null],
      ['ord_newer', 4],
      ['ord_older', 2],
    ]);
  }));
