import type { Pool } from '@cpg/platform/postgres';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { rolledBack } from '../../testing/jest-rolled-back.ts';
import {
  answerWebhookDeletion,
  boxOfEachKey,
  deleteWebhook,
  hasRoomForWebhook,
  insertWebhook,
  listWebhooks,
  merchantIdOfWebhook,
  rotateWebhookSecret,
  updateWebhook,
  webhookById,
} from './webhook-queries.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const AT = new Date('2026-01-31T12:00:00.000Z');
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);

const by = (seconds: number) => ({ by: 'key:tests', at: later(seconds) });

/** Creates a webhook of a merchant that can have two. */
const insert = (db: Pool, id: string, { secretBox = `box of ${id}`, at = AT } = {}) => {
  const webhook = { id, merchantId: shop.id, url: 'https://shop.example', events: ['order:paid'] as const };
  return insertWebhook(db, { ...webhook, secretBox, seed: `seed of ${id}` }, 2, { by: 'key:tests', at });
};
const withWebhooks = (ids: readonly string[], work: (db: Pool) => Promise<void>) =>
  rolledBack(gateway.pool, async (db) => {
    for (const id of ids) await insert(db, id);
    await work(db);
  });
const rowOf = async (db: Pool, id: string) =>
  (await db.query('select * from gateway.webhooks where id = $1', [id])).rows[0];
const remove = (db: Pool, id: string, seconds = 0) => deleteWebhook(db, shop.id, id, by(seconds));

test('a merchant has at most as many webhooks as allowed; a repeat and deleted ones need no room', () =>
  withWebhooks(['whk_1'], async (db) => {
    const hasRoom = (id: string) => hasRoomForWebhook(db, shop.id, id, 2);
    expect(await hasRoom('whk_2')).toBe(true);
    expect(await insert(db, 'whk_2')).toMatchObject({ webhook: { id: 'whk_2' }, secretBox: 'box of whk_2' });
    expect([await hasRoom('whk_3'), await hasRoom('whk_2')]).toEqual([false, true]);
    expect(await insert(db, 'whk_3')).toBeNull();
    expect(await insert(db, 'whk_2', { secretBox: 'another' })).toMatchObject({ secretBox: 'box of whk_2' });
    await remove(db, 'whk_2');
    expect([await hasRoom('whk_3'), await insert(db, 'whk_2')]).toEqual([true, 'deleted']);
    expect(await insert(db, 'whk_3')).toMatchObject({ webhook: { id: 'whk_3' } });
  }));

test('a deleted webhook is not shown, changed or listed', () =>
  withWebhooks(['whk_1', 'whk_2'], async (db) => {
    await remove(db, 'whk_1');
    for (const [id, isShown] of [
      ['whk_1', false],
      ['whk_2', true],
    ] as const) {
      const webhook = isShown ? expect.objectContaining({ id }) : null;
      expect(await webhookById(db, shop.id, id)).toEqual(webhook);
      expect(await updateWebhook(db, shop.id, id, { is_enabled: true }, by(0))).toEqual(webhook);
      expect(await merchantIdOfWebhook(db, id)).toBe(isShown ? shop.id : null);
      const rotation = { secretBox: 'fresh', seed: 'fresh', overlapUntil: later(1) };
      expect(await rotateWebhookSecret(db, shop.id, id, rotation, by(0))).toEqual(isShown ? expect.anything() : null);
    }
    const { items, total } = await listWebhooks(db, shop.id, { page: 1, limit: 10, sort: 'asc' });
    expect([items.map(({ id }) => id), total]).toEqual([['whk_2'], 1]);
  }));

describe('a rotation', () => {
  const rotate = (db: Pool, seed: string, seconds: number) => {
    const rotation = { secretBox: seed, seed, overlapUntil: later(seconds + 10) };
    return rotateWebhookSecret(db, shop.id, 'whk_1', rotation, by(seconds));
  };
  const secretsOf = async (db: Pool) => {
    const { secret_box, previous_secret_box, previous_secret_until, older_secret_box, older_secret_until } =
      await rowOf(db, 'whk_1');
    return [secret_box, previous_secret_box, previous_secret_until, older_secret_box, older_secret_until];
  };

  test('keeps two earlier secrets until their overlaps end, and is refused for a third', () =>
    withWebhooks(['whk_1'], async (db) => {
      await rotate(db, 'second', 0);
      await rotate(db, 'third', 5);
      const three = ['third', 'second', later(15), 'box of whk_1', later(10)];
      expect(await secretsOf(db)).toEqual(three);
      expect(await rotate(db, 'fourth', 9.999)).toBe('too many secrets');
      expect(await secretsOf(db)).toEqual(three);
      expect(await rotate(db, 'fourth', 10)).toMatchObject({ secretBox: 'fourth' });
      expect(await secretsOf(db)).toEqual(['fourth', 'third', later(20), 'second', later(15)]);
    }));

  test('by the same request replaces the secret once', () =>
    withWebhooks(['whk_1'], async (db) => {
      const first = await rotate(db, 'second', 0);
      expect(await rotate(db, 'second', 5)).toEqual(first);
      expect(await secretsOf(db)).toEqual(['second', 'box of whk_1', later(10), null, null]);
    }));
});

test('a deletion removes the secrets; a repeat keeps its time, and succeeds until the client has an answer', () =>
  withWebhooks(['whk_1', 'whk_2'], async (db) => {
    await db.query(
      "update gateway.webhooks set previous_secret_box = 'box', older_secret_box = 'box', is_enabled = true",
    );
    for (const seconds of [0, 5]) {
      expect(await remove(db, 'whk_1', seconds)).toBe(true);
      expect(await rowOf(db, 'whk_1')).toMatchObject({
        ...{ deleted_at: AT, updated_at: later(seconds), is_enabled: false, deletion_answered: false },
        ...{ secret_box: '', previous_secret_box: null, older_secret_box: null },
      });
    }
    await answerWebhookDeletion(db, shop.id, 'whk_1');
    expect(await remove(db, 'whk_1')).toBe(false);
    expect(await remove(db, 'unknown')).toBe(false);
    expect(await rowOf(db, 'whk_2')).toMatchObject({ deleted_at: null, is_enabled: true, secret_box: 'box of whk_2' });
  }));

// A box is `<version>.<key>.<data>`. The first of each key in alphabetical order is returned.
test('names one box of each key that encrypted a secret', () =>
  withWebhooks([], async (db) => {
    await insert(db, 'whk_1', { secretBox: 'v1.key1.z' });
    await insert(db, 'whk_2', { secretBox: 'v1.key1.y' });
    await db.query("update gateway.webhooks set older_secret_box = 'v1.key2.x' where id = 'whk_1'");
    expect((await boxOfEachKey(db)).sort()).toEqual(['v1.key1.y', 'v1.key2.x']);
    await remove(db, 'whk_1');
    expect(await boxOfEachKey(db)).toEqual(['v1.key1.y']);
  }));
