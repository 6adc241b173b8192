import {
  type EventStoreDBClient,
  END,
  PARK,
  PersistentSubscriptionDoesNotExistError,
  PersistentSubscriptionDroppedError,
  PersistentSubscriptionExistsError,
  PersistentSubscriptionFailedError,
  PersistentSubscriptionMaximumSubscribersReachedError,
  type PersistentSubscriptionToStreamSettings,
  persistentSubscriptionToAllSettingsFromDefaults,
  persistentSubscriptionToStreamSettingsFromDefaults,
  RETRY,
  SKIP,
  START,
  STOP,
  streamNameFilter,
} from '@eventstore/db-client';
import { Consumer, eventually } from '../testing/jest-consumer.ts';
import { collect, counted, newStream, numberOf, numbersIn, range, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));
const GROUP = 'group';
const parkedOf = (stream: string) => `$persistentsubscription-${stream}::${GROUP}-parked`;

const settings = (changes: Partial<PersistentSubscriptionToStreamSettings> = {}) =>
  persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START, ...changes });

/** A stream of `count` numbers with a group that reads it from the start. */
const newGroup = async (count: number, changes: Partial<PersistentSubscriptionToStreamSettings> = {}) => {
  const stream = newStream();
  if (count > 0) await client.appendToStream(stream, counted(...range(0, count)));
  await client.createPersistentSubscriptionToStream(stream, GROUP, settings(changes));
  return stream;
};

const consumers: Consumer[] = [];
afterEach(() => Promise.all(consumers.splice(0).map((consumer) => consumer.leave())));
const consume = (stream: string, bufferSize = 10): Consumer => {
  const consumer = new Consumer(client.subscribeToPersistentSubscriptionToStream(stream, GROUP, { bufferSize }));
  consumers.push(consumer);
  return consumer;
};

describe('groups', () => {
  test('one that exists cannot be created again', async () => {
    const stream = await newGroup(0);
    const again = client.createPersistentSubscriptionToStream(stream, GROUP, settings());
    await expect(again).rejects.toBeInstanceOf(PersistentSubscriptionExistsError);
    await expect(again).rejects.toMatchObject({ streamName: stream, groupName: GROUP });
  });

  test('one that is not there can be neither used nor changed', async () => {
    const stream = newStream();
    const attempts = [
      client.updatePersistentSubscriptionToStream(stream, GROUP, settings()),
      client.deletePersistentSubscriptionToStream(stream, GROUP),
      client.getPersistentSubscriptionToStreamInfo(stream, GROUP),
      client.replayParkedMessagesToStream(stream, GROUP),
      client.listPersistentSubscriptionsToStream(stream),
      consume(stream).ended,
    ];
    for (const attempt of attempts) {
      await expect(attempt).rejects.toBeInstanceOf(PersistentSubscriptionDoesNotExistError);
    }
    await expect(attempts[0]).rejects.toMatchObject({ streamName: stream, groupName: GROUP });
  });

  test('settings that contradict each other are refused', async () => {
    const creating = client.createPersistentSubscriptionToStream(
      newStream(),
      GROUP,
      settings({ readBatchSize: 500, historyBufferSize: 500 }),
    );
    await expect(creating).rejects.toBeInstanceOf(PersistentSubscriptionFailedError);
  });

  test('are described as they were created and updated', async () => {
    const created = settings({ maxSubscriberCount: 3, consumerStrategyName: 'Pinned', messageTimeout: 7_000 });
    const stream = newStream();
    await client.createPersistentSubscriptionToStream(stream, GROUP, created);
    const info = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
    expect(info).toMatchObject({ eventSource: stream, groupName: GROUP, settings: created, connections: [] });

    const updated = settings({ startFrom: END, maxRetryCount: 1, consumerStrategyName: 'DispatchToSingle' });
    await client.updatePersistentSubscriptionToStream(stream, GROUP, updated);
    expect(await client.getPersistentSubscriptionToStreamInfo(stream, GROUP)).toMatchObject({ settings: updated });
  });

  test('are listed, those of a stream or all', async () => {
    const stream = await newGroup(0);
    await client.createPersistentSubscriptionToStream(stream, 'other', settings());
    const names = (infos: { groupName: string }[]) => infos.map(({ groupName }) => groupName).sort();
    expect(names(await client.listPersistentSubscriptionsToStream(stream))).toEqual([GROUP, 'other']);
    const all = await client.listAllPersistentSubscriptions();
    expect(names(all.filter(({ eventSource }) => eventSource === stream))).toEqual([GROUP, 'other']);
  });

  test('one that is deleted drops its subscribers and is gone', async () => {
    const stream = await newGroup(1);
    const consumer = consume(stream);
    await consumer.received(1);
    await client.deletePersistentSubscriptionToStream(stream, GROUP);
    await expect(consumer.ended).rejects.toBeInstanceOf(PersistentSubscriptionDroppedError);
    await expect(consume(stream).ended).rejects.toBeInstanceOf(PersistentSubscriptionDoesNotExistError);
  });

  test('one that is updated drops its subscribers and goes on with those that come back', async () => {
    const stream = await newGroup(2);
    const before = consume(stream);
    await before.received(2);
    await client.updatePersistentSubscriptionToStream(stream, GROUP, settings({ maxRetryCount: 5 }));
    await expect(before.ended).rejects.toBeInstanceOf(PersistentSubscriptionDroppedError);
    expect(await consume(stream).received(2)).toEqual([0, 1]);
  });

  test('no more subscribers than allowed', async () => {
    const stream = await newGroup(0, { maxSubscriberCount: 1 });
    const first = consume(stream);
    await first.confirmed;
    await expect(consume(stream).ended).rejects.toBeInstanceOf(PersistentSubscriptionMaximumSubscribersReachedError);
    await first.leave();
    const second = await eventually(async () => {
      const consumer = consume(stream);
      await Promise.race([consumer.confirmed, consumer.ended]);
      return consumer;
    });
    await client.appendToStream(stream, counted(0));
    expect(await second.received(1)).toEqual([0]);
  });
});

describe('where a group starts', () => {
  test.each([
    ['the start', START, [0, 1, 2, 3, 4]],
    ['a revision, that one included', 2n, [2, 3, 4]],
    ['the end', END, [4]],
  ] as const)('%s', async (_, startFrom, expected) => {
    const stream = await newGroup(4, { startFrom });
    const consumer = consume(stream);
    await consumer.confirmed;
    await client.appendToStream(stream, counted(4));
    expect(await consumer.received(expected.length)).toEqual(expected);
  });

  test('a stream that comes into being later', async () => {
    const stream = await newGroup(0);
    const consumer = consume(stream);
    await consumer.confirmed;
    await client.appendToStream(stream, counted(0));
    expect(await consumer.received(1)).toEqual([0]);
  });
});

describe('a subscriber', () => {
  test('has no more in its hands than its buffer, and gets more for each it acknowledges', async () => {
    const stream = await newGroup(10);
    const consumer = consume(stream, 3);
    expect(await consumer.received(3)).toEqual([0, 1, 2]);
    const { connections, stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
    expect(connections).toMatchObject([{ inFlightMessages: 3, availableSlots: 0 }]);
    expect(stats.totalInFlightMessages).toBe(3);
    await consumer.ack(1);
    expect(await consumer.received(4)).toEqual([0, 1, 2, 3]);
    await consumer.ack(0, 2);
    expect(await consumer.received(6)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('is told how often a message was tried, and where it stands', async () => {
    const stream = await newGroup(1);
    const consumer = consume(stream);
    await consumer.received(1);
    await consumer.nack(RETRY, 'again', 0);
    await consumer.received(2);
    expect(consumer.messages.map(({ retryCount }) => retryCount)).toEqual([0, 1]);
    const [read] = await collect(client.readStream(stream));
    expect(consumer.messages[0]).toMatchObject({ event: read!.event, commitPosition: read!.commitPosition });
  });

  test('that leaves hands over what it had', async () => {
    const stream = await newGroup(3);
    const first = consume(stream);
    await first.received(3);
    await first.ack(1);
    await first.leave();
    expect(await consume(stream).received(2)).toEqual([0, 2]);
  });

  test('gets what it does not acknowledge in time again, and it is parked in the end', async () => {
    const stream = await newGroup(1, { messageTimeout: 300, maxRetryCount: 1 });
    const consumer = consume(stream);
    expect(await consumer.received(2)).toEqual([0, 0]);
    expect(await eventually(() => numbersIn(client, parkedOf(stream), { resolveLinkTos: true }))).toEqual([0]);
  });
});

describe('a message that is refused', () => {
  test('retry: it comes again until its retries are used up, then it is parked', async () => {
    const stream = await newGroup(2, { maxRetryCount: 2 });
    const consumer = consume(stream);
    await consumer.received(2);
    for (const tries of [1, 2, 3]) {
      await consumer.nack(RETRY, 'not yet', consumer.messages.length - (tries === 1 ? 2 : 1));
      if (tries < 3) await consumer.received(2 + tries);
    }
    const parked = await eventually(() => collect(client.readStream(parkedOf(stream), { resolveLinkTos: true })));
    expect(parked.map(numberOf)).toEqual([0]);
    expect(consumer.numbers).toEqual([0, 1, 0, 0]);
  });

  test('park: it is set aside with the reason, and does not come again', async () => {
    const stream = await newGroup(2);
    const consumer = consume(stream, 1);
    await consumer.received(1);
    await consumer.nack(PARK, 'no good', 0);
    expect(await consumer.received(2)).toEqual([0, 1]);
    const [parked] = await eventually(() => collect(client.readStream(parkedOf(stream), { resolveLinkTos: true })));
    expect(numberOf(parked!)).toBe(0);
    expect(parked!.link).toMatchObject({ type: '$>', streamId: parkedOf(stream), isJson: false });
    expect(JSON.stringify(parked!.link!.metadata)).toContain('no good');
    await eventually(async () => {
      const { stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
      expect(stats.parkedMessageCount).toBe(1n);
    });
  });

  test.each([SKIP, STOP] as const)('%s: it is done with, and the next one comes', async (action) => {
    const stream = await newGroup(2);
    const consumer = consume(stream, 1);
    await consumer.received(1);
    await consumer.nack(action, 'never mind', 0);
    expect(await consumer.received(2)).toEqual([0, 1]);
    await consumer.ack(1);
    await client.appendToStream(stream, counted(2));
    expect(await consumer.received(3)).toEqual([0, 1, 2]);
  });
});

describe('replay of parked messages', () => {
  const parkAll = async (count: number) => {
    const stream = await newGroup(count);
    const consumer = consume(stream);
    await consumer.received(count);
    for (const n of range(0, count)) await consumer.nack(PARK, 'later', n);
    await eventually(async () => {
      const { stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
      expect(stats.parkedMessageCount).toBe(BigInt(count));
    });
    return { stream, consumer };
  };

  test('brings them again, and those that are acknowledged are parked no more', async () => {
    const { stream, consumer } = await parkAll(3);
    await client.replayParkedMessagesToStream(stream, GROUP);
    expect((await consumer.received(6)).slice(3).sort()).toEqual([0, 1, 2]);
    expect(consumer.messages[3]!.link).toMatchObject({ streamId: parkedOf(stream) });
    await consumer.ack(3, 4, 5);
    await eventually(async () => {
      const { stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
      expect(stats.parkedMessageCount).toBe(0n);
    });
    await client.replayParkedMessagesToStream(stream, GROUP);
    await client.appendToStream(stream, counted(9));
    expect((await consumer.received(7)).slice(6)).toEqual([9]);
  });

  test('stops before the revision it is told to stop at', async () => {
    const { stream, consumer } = await parkAll(3);
    await client.replayParkedMessagesToStream(stream, GROUP, { stopAt: 2 });
    await consumer.received(5);
    await consumer.ack(3, 4);
    await eventually(async () => {
      const { stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
      expect(stats.parkedMessageCount).toBe(1n);
    });
    expect(consumer.messages).toHaveLength(5);
  });

  test('of nothing does nothing', async () => {
    const stream = await newGroup(0);
    await client.replayParkedMessagesToStream(stream, GROUP);
  });

  test('can end in being parked again', async () => {
    const { stream, consumer } = await parkAll(1);
    await client.replayParkedMessagesToStream(stream, GROUP);
    await consumer.received(2);
    await consumer.nack(PARK, 'still no good', 1);
    await eventually(async () => {
      const links = await collect(client.readStream(parkedOf(stream), { resolveLinkTos: true }));
      expect(links.map(({ link }) => link!.revision)).toEqual([1n]);
    });
  });
});

describe('competing consumers', () => {
  const TOTAL = 300;

  test.each(['RoundRobin', 'DispatchToSingle', 'Pinned'] as const)(
    '%s: together they get every message once',
    async (consumerStrategyName) => {
      const stream = await newGroup(0, { consumerStrategyName });
      const three = range(0, 3).map(() => consume(stream, 5).acknowledgeAll());
      for (const n of range(0, TOTAL / 10)) await client.appendToStream(stream, counted(...range(n * 10, 10)));
      await eventually(() => expect(three.flatMap(({ numbers }) => numbers)).toHaveLength(TOTAL));
      expect(three.flatMap(({ numbers }) => numbers).sort((a, b) => a - b)).toEqual(range(0, TOTAL));
    },
  );

  test('in turns each gets a share', async () => {
    const stream = await newGroup(0);
    const two = range(0, 2).map(() => consume(stream, 5));
    await Promise.all(two.map(({ confirmed }) => confirmed));
    await client.appendToStream(stream, counted(0, 1, 2, 3));
    for (const consumer of two) await consumer.received(2);
    expect(two.flatMap(({ numbers }) => numbers).sort()).toEqual([0, 1, 2, 3]);
  });

  test('what one that left had is done by the others, and nothing is missed', async () => {
    const stream = await newGroup(TOTAL);
    const leaving = consume(stream, 50);
    await leaving.received(50);
    const staying = consume(stream, 10).acknowledgeAll();
    await leaving.leave();
    await eventually(() => expect(new Set(staying.numbers).size).toBe(TOTAL));
  });

  test('one that is slow holds nobody up', async () => {
    const stream = await newGroup(50);
    consume(stream, 5);
    const quick = consume(stream, 5).acknowledgeAll();
    await eventually(() => expect(quick.numbers).toHaveLength(45));
  });
});

describe('a group of $all', () => {
  const newName = () => newStream('group');
  const all = (changes: Partial<Parameters<typeof persistentSubscriptionToAllSettingsFromDefaults>[0]> = {}) =>
    persistentSubscriptionToAllSettingsFromDefaults({ startFrom: START, ...changes });
  const consumeAll = (name: string) => {
    const consumer = new Consumer(client.subscribeToPersistentSubscriptionToAll(name));
    consumers.push(consumer);
    return consumer;
  };

  test('gets what its filter lets through', async () => {
    const [name, stream] = [newName(), newStream('wanted')];
    await client.appendToStream(stream, counted(0));
    await client.createPersistentSubscriptionToAll(name, all(), { filter: streamNameFilter({ prefixes: [stream] }) });
    const consumer = consumeAll(name);
    for (const _ of range(0, 5)) await client.appendToStream(newStream(), counted(...range(100, 50)));
    await client.appendToStream(stream, counted(1));
    expect(await consumer.received(2)).toEqual([0, 1]);
    await client.deletePersistentSubscriptionToAll(name);
  });

  test('starts at a position, that one included', async () => {
    const [name, stream] = [newName(), newStream()];
    await client.appendToStream(stream, counted(0));
    const { position } = await client.appendToStream(stream, counted(1));
    const filter = streamNameFilter({ prefixes: [stream] });
    await client.createPersistentSubscriptionToAll(name, all({ startFrom: position! }), { filter });
    const info = await client.getPersistentSubscriptionToAllInfo(name);
    expect(info).toMatchObject({ eventSource: '$all', groupName: name, settings: { startFrom: position } });
    expect(await consumeAll(name).received(1)).toEqual([1]);
    await client.deletePersistentSubscriptionToAll(name);
  });

  test('cannot start beyond the end of the log', async () => {
    const position = { commit: 1n << 60n, prepare: 1n << 60n };
    const creating = client.createPersistentSubscriptionToAll(newName(), all({ startFrom: position }));
    await expect(creating).rejects.toBeInstanceOf(PersistentSubscriptionFailedError);
  });

  test('is updated, listed, and deleted; its filter stays', async () => {
    const [name, stream] = [newName(), newStream('wanted')];
    await client.createPersistentSubscriptionToAll(name, all(), { filter: streamNameFilter({ prefixes: [stream] }) });
    await client.updatePersistentSubscriptionToAll(name, all({ maxRetryCount: 1 }));
    const listed = await client.listPersistentSubscriptionsToAll();
    expect(listed.find(({ groupName }) => groupName === name)).toMatchObject({ settings: { maxRetryCount: 1 } });
    const consumer = consumeAll(name);
    await client.appendToStream(newStream(), counted(9));
    await client.appendToStream(stream, counted(0));
    expect(await consumer.received(1)).toEqual([0]);
    await client.deletePersistentSubscriptionToAll(name);
    await expect(consumer.ended).rejects.toBeInstanceOf(PersistentSubscriptionDroppedError);
  });

  test('parks beside the log, and does not read what it parked', async () => {
    const [name, stream] = [newName(), newStream()];
    const filter = streamNameFilter({ prefixes: [stream, '$persistentsubscription-$all'] });
    await client.createPersistentSubscriptionToAll(name, all({ startFrom: END }), { filter });
    const consumer = consumeAll(name);
    await consumer.confirmed;
    await client.appendToStream(stream, counted(0));
    await consumer.received(1);
    await consumer.nack(PARK, 'no good', 0);
    const parked = `$persistentsubscription-$all::${name}-parked`;
    expect(await eventually(() => numbersIn(client, parked, { resolveLinkTos: true }))).toEqual([0]);
    await client.appendToStream(stream, counted(1));
    expect(await consumer.received(2)).toEqual([0, 1]);
    await client.replayParkedMessagesToAll(name);
    expect(await consumer.received(3)).toEqual([0, 1, 0]);
    await client.deletePersistentSubscriptionToAll(name);
  });
});

describe('links', () => {
  const linkTo = (stream: string, revision: number) => ({
    contentType: 'application/octet-stream' as const,
    type: '$>',
    id: crypto.randomUUID(),
    data: Buffer.from(`${revision}@${stream}`),
    metadata: undefined,
  });

  test('are followed when asked for, by readers, subscribers and groups', async () => {
    const [stream, links] = [newStream(), newStream('links')];
    await client.appendToStream(stream, counted(7, 8));
    await client.appendToStream(links, [linkTo(stream, 1), linkTo(stream, 0)]);
    expect(await numbersIn(client, links, { resolveLinkTos: true })).toEqual([8, 7]);
    const [plain] = await collect(client.readStream(links));
    expect(plain!.event).toMatchObject({ type: '$>', streamId: links });
    const [followed] = await collect(client.readStream(links, { resolveLinkTos: true }));
    expect(followed).toMatchObject({ event: { streamId: stream, revision: 1n }, link: { streamId: links } });

    await client.createPersistentSubscriptionToStream(links, GROUP, settings({ resolveLinkTos: true }));
    const consumer = consume(links, 1);
    await consumer.received(1);
    await consumer.ack(0);
    expect(await consumer.received(2)).toEqual([8, 7]);
  });

  test('to what is gone are read as links, and are not for a group', async () => {
    const [stream, links] = [newStream(), newStream('links')];
    await client.appendToStream(stream, counted(7, 8));
    await client.appendToStream(links, [linkTo(stream, 0), linkTo(stream, 1), linkTo(newStream(), 0)]);
    await client.setStreamMetadata(stream, { truncateBefore: 1 });
    const read = await collect(client.readStream(links, { resolveLinkTos: true }));
    expect(read.map(({ event, link }) => [event?.revision, link?.revision])).toEqual([
      [undefined, 0n],
      [1n, 1n],
      [undefined, 2n],
    ]);
    await client.createPersistentSubscriptionToStream(links, GROUP, settings({ resolveLinkTos: true }));
    expect(await consume(links).received(1)).toEqual([8]);
  });
});
