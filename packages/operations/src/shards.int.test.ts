import { identifyStore } from './service/own-store.ts';
import { republish } from './commands/store-command.ts';
import { ORDERS, startShardedTallies } from '../../event-sourcing/src/testing/jest-shards.ts';
import { until } from '../../event-sourcing/src/testing/jest-until.ts';

let service: Awaited<ReturnType<typeof startShardedTallies>>;
beforeEach(async () => {
  service = await startShardedTallies();
});
afterEach(() => service.stop());

test('one shard has the checkpoints of versions without shards', async () => {
  service.startProcess('a', 1);
  await service.tallyAll();
  await until(() => service.hasAll(1));
  await until(async () => (await service.checkpoints()).length === 2);
  expect(await service.checkpoints()).toEqual(['projection', 'relay']);
});

test('a leader that was paused while the number of shards changed is fenced, and follows the change', async () => {
  const { published, tally, idsOf } = service;
  let resume = () => {};
  const paused = new Promise<void>((done) => (resume = done));
  let isPaused = false;
  service.startProcess('old', 1, async () => {
    if (isPaused || published.length === 0) return;
    isPaused = true;
    await paused;
  });
  await tally('a', 1);
  await until(() => published.length === 1);
  await tally('a', 2);
  await until(() => isPaused);
  const successor = service.startProcess('new', 2);
  await tally('a', 3);
  await until(() => idsOf('a').includes(2));
  const before = published.length;
  resume();
  await tally('a', 4);
  await until(() => idsOf('a').includes(3));
  expect(published.slice(before).map(({ id }) => id)).toEqual(['tally-a#3']);
  service.requireOrder();
  await successor.stop();
  await tally('a', 5);
  await until(() => idsOf('a').includes(4));
  expect(published.at(-1)).toMatchObject({ by: 'old', checkpoint: expect.stringMatching(/^relay-\d-of-2$/) });
});

test('republishes the events of every shard', async () => {
  const { client, projection } = service.options();
  await identifyStore({ client, environment: 'sandbox', name: 'test' });
  service.startProcess('a', 3);
  await service.tallyAll();
  await until(() => service.hasAll(1));
  const saved = "name like 'relay%' and retired_at is null and commit_position is not null";
  await until(async () => (await service.checkpoints(saved)).length === 3);
  service.published.length = 0;
  expect(await republish({ client, pool: service.pool, projection, since: new Date(0) })).toBe(true);
  await until(() => service.hasAll(1));
  expect(service.published.map(({ id }) => id).sort()).toEqual(ORDERS.map((order) => `tally-${order}#0`));
});
