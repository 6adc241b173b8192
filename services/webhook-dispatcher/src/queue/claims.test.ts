import { createClaimBacklog } from './claims.ts';

const now = new Date('2026-01-31T12:00:00.000Z');

/** A backlog of an instance where every endpoint has the same demand. */
const backlogOf = ({ demand = 10, freeDeliveries = 1_000, open = [] as string[] } = {}) =>
  createClaimBacklog({
    demandOf: () => demand,
    freeDeliveries: () => freeDeliveries,
    isOpen: (webhookId) => open.includes(webhookId),
  });

test('claims up to the demand of each webhook', () => {
  const backlog = backlogOf();
  for (const webhookId of ['a', 'b']) backlog.add(webhookId);
  expect(backlog.nextClaims()).toEqual([
    { webhookId: 'a', limit: 10 },
    { webhookId: 'b', limit: 10 },
  ]);
});

test('shares scarce memory equally', () => {
  const backlog = backlogOf({ freeDeliveries: 6 });
  for (const webhookId of ['a', 'b', 'c']) backlog.add(webhookId);
  expect(backlog.nextClaims().map(({ limit }) => limit)).toEqual([2, 2, 2]);
});

test('skips webhooks without demand, and removes those whose circuit breaker is open', () => {
  const idle = backlogOf({ demand: 0 });
  idle.add('a');
  expect(idle.nextClaims()).toEqual([]);
  expect(idle.isEmpty()).toBe(false);
  const open = backlogOf({ open: ['a'] });
  open.add('a');
  expect(open.nextClaims()).toEqual([]);
  expect(open.isEmpty()).toBe(true);
});

test('serves webhooks with more due work again after the others', () => {
  const backlog = backlogOf({ demand: 2 });
  for (const webhookId of ['a', 'b', 'c']) backlog.add(webhookId);
  const requests = backlog.nextClaims().slice(0, 2);
  backlog.served(requests, ['a', 'a', 'b']);
  expect(backlog.nextClaims().map(({ webhookId }) => webhookId)).toEqual(['c', 'a']);
});

test('polls page by page, and adds due webhooks only', async () => {
  const backlog = backlogOf();
  const cursors: unknown[] = [];
  const page = Array.from({ length: 1_000 }, (_, n) => ({ webhook_id: `w${n}`, due_at: new Date(now.getTime() + 1) }));
  const pages = [page, [{ webhook_id: 'x', due_at: now }], []];
  const query = async ({ values }: { values: unknown[] }) => {
    cursors.push(values[0]);
    return { rows: pages.shift()! };
  };
  for (let n = 0; n < 3; n += 1) await backlog.poll({ query } as never, now);
  expect(cursors).toEqual(['', 'w999', '']);
  expect(backlog.nextClaims()).toEqual([{ webhookId: 'x', limit: 10 }]);
});
