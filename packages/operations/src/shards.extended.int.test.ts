import { shardOf } from '@cpg/event-sourcing';
import { ORDERS, startShardedTallies } from '../../event-sourcing/src/testing/jest-shards.ts';
import { republish } from './commands/store-command.ts';
import { verify } from './read-models/verify.ts';
import { identifyStore } from './service/own-store.ts';
import { until } from '../../event-sourcing/src/testing/jest-until.ts';

let service: Awaited<ReturnType<typeof startShardedTallies>>;
beforeEach(async () => {
  service = await startShardedTallies();
});
afterEach(() => service.stop());

test('two processes lead equal numbers of shards, and one takes over all when the other stops', async () => {
  const { published, startProcess, tallyAll } = service;
  const publishAll = async () => {
    published.length = 0;
    await tallyAll();
    await until(() => new Set(published.map(({ id }) => id)).size >= ORDERS.length);
    return new Set(published.map(({ by }) => by));
  };
  const first = startProcess('first', 4);
  expect(await publishAll()).toEqual(new Set(['first']));
  startProcess('second', 4);
  // While shards change hands, two processes can publish events of one shard.
  await until(async () => {
    await publishAll();
    const leaders = new Set(published.map(({ checkpoint, by }) => `${checkpoint} ${by}`));
    const ledBy = (name: string) => [...leaders].filter((leader) => leader.endsWith(` ${name}`)).length;
    return ledBy('first') === 2 && ledBy('second') === 2;
  });
  for (const { id, checkpoint } of published) {
    const order = id.slice('tally-'.length).split('#')[0]!;
    expect(checkpoint).toBe(`relay-${shardOf(order, 4) + 1}-of-4`);
  }
  await first.stop();
  expect(await publishAll()).toEqual(new Set(['second']));
});

test('another number of shards leaves no event out and keeps the order of each order', async () => {
  const { startProcess, tallyAll, hasAll, checkpoints } = service;
  let events = 0;
  for (const [index, shards] of [1, 3, 2, 1].entries()) {
    const process = startProcess(String(index), shards);
    await tallyAll();
    events += 1;
    await until(() => hasAll(events));
    // Events can be published while shards still change hands.
    await until(async () => (await checkpoints()).length === 2 * shards);
    // The others go on beside the next one, and follow it.
    if (index % 2 === 0) await process.stop();
  }
  service.requireOrder();
  expect(await checkpoints()).toEqual(['projection', 'relay']);
  await until(async () => (await service.rows()).every(({ revision }) => revision === events - 1));
});

test('the rows of several shards are those of the whole log', async () => {
  const { startProcess, tallyAll, hasAll, pool, options } = service;
  startProcess('first', 3);
  await tallyAll();
  await until(() => hasAll(1));
  expect(await verify(options())).toMatchObject({ rows: ORDERS.length, differ: 0 });
  await pool.query("update tallies.tallies set n = n + 1 where id = 'a'");
  expect(await verify(options())).toMatchObject({ differ: 1, differences: [{ id: 'a' }] });
});

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
