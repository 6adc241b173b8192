import { once } from 'node:events';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { DeadlineExceededError, END, streamNameFilter } from '@eventstore/db-client';
import { type ClientWritableStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { identifierOf, streamsClient } from '../testing/jest-stubs.ts';
import { collect, counted, newStream, numberOf, numbersIn, range, useStore } from '../testing/jest-store.ts';

const { client, url } = await useStore();
const streams = streamsClient(url);

const target = (stream: string): streamsPb.AppendReq => {
  const options = new streamsPb.AppendReq.Options();
  options.setStreamIdentifier(identifierOf(stream));
  options.setAny(new sharedPb.Empty());
  const request = new streamsPb.AppendReq();
  request.setOptions(options);
  return request;
};

const proposed = (id: string): streamsPb.AppendReq => {
  const message = new streamsPb.AppendReq.ProposedMessage();
  const uuid = new sharedPb.UUID();
  uuid.setString(id);
  message.setId(uuid);
  message.getMetadataMap().set('type', 'Counted').set('content-type', 'application/json');
  message.setData(Buffer.from('{"n":1}'));
  const request = new streamsPb.AppendReq();
  request.setProposedMessage(message);
  return request;
};

/** An append that was begun and whose end the server waits for, and how it ends. */
const begun = (stream: string, deadlineMs?: number) => {
  let call!: ClientWritableStream<streamsPb.AppendReq>;
  const ended = new Promise<ServiceError | null>((resolve) => {
    const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
    call = streams.append(new Metadata(), options, (error) => resolve(error));
  });
  call.write(target(stream));
  call.write(proposed(crypto.randomUUID()));
  return { call, ended };
};

describe('an append that does not end', () => {
  test('is over at its deadline, and nothing of it is written', async () => {
    const stream = newStream();
    expect(await begun(stream, 200).ended).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await expect(numbersIn(client, stream)).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  test('is over when it is cancelled, and nothing of it is written', async () => {
    for (const _ of range(0, 20)) {
      const stream = newStream();
      const { call, ended } = begun(stream);
      await numbersIn(client, newStream()).catch(() => {}); // the server is by now reading it
      call.cancel();
      expect(await ended).toMatchObject({ code: status.CANCELLED });
      await client.appendToStream(stream, counted(2), { expectedRevision: 'no_stream' });
      expect(await numbersIn(client, stream)).toEqual([2]);
    }
  });
});

test('a call whose deadline is over at once is refused as such', async () => {
  const [stream, credentials] = [newStream(), { username: 'admin', password: 'changeit' }];
  await expect(client.appendToStream(stream, counted(1), { deadline: 0, credentials })).rejects.toBeInstanceOf(
    DeadlineExceededError,
  );
  await expect(client.setStreamMetadata(stream, {}, { deadline: 0 })).rejects.toBeInstanceOf(DeadlineExceededError);
});

test('a subscriber that is gone is not missed', async () => {
  const stream = newStream();
  for (const _ of range(0, 20)) {
    const subscription = client.subscribeToAll({
      fromPosition: END,
      filter: streamNameFilter({ prefixes: [stream] }),
    });
    await once(subscription, 'confirmation');
    await subscription.unsubscribe();
  }
  await client.appendToStream(stream, counted(1));
  expect(await numbersIn(client, stream)).toEqual([1]);
});

test('events of the largest size are subscribed to as they are read', async () => {
  const stream = newStream();
  const big = counted(1).map((event) => ({ ...event, data: { n: 1, text: 'x'.repeat(1_000_000) } }));
  const subscription = client.subscribeToStream(stream);
  await once(subscription, 'confirmation');
  for (const _ of range(0, 5))
    await client.appendToStream(
      stream,
      big.map((e) => ({ ...e, id: crypto.randomUUID() })),
    );
  let seen = 0;
  for await (const resolved of subscription) {
    expect((resolved.event!.data as { text: string }).text).toHaveLength(1_000_000);
    if (++seen === 5) break;
  }
  expect((await collect(client.readStream(stream))).map(numberOf)).toEqual([1, 1, 1, 1, 1]);
});
