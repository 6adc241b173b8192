import { once } from 'node:events';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { type EventStoreDBClient, DeadlineExceededError, END, streamNameFilter } from '@eventstore/db-client';
import { type ServiceError, status } from '@grpc/grpc-js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { identifierOf, streamsClient } from '../testing/jest-grpc.ts';
import { collect, counted, newStream, numberOf, numbersIn, range, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));
let streams: StreamsClient;
beforeAll(() => (streams = streamsClient(store.url)));
afterAll(() => streams.close());

/** A batch append of which the end is missing, and how its call ends. */
const begun = (stream: string, deadlineMs: { readonly ofCall?: number; readonly ofAppend?: number } = {}) => {
  const { ofCall, ofAppend } = deadlineMs;
  const call = streams.batchAppend(ofCall === undefined ? {} : { deadline: Date.now() + ofCall });
  const answers: streamsPb.BatchAppendResp[] = [];
  call.on('data', (answer: streamsPb.BatchAppendResp) => answers.push(answer));
  const ended = new Promise<ServiceError>((resolve) => call.once('error', resolve));
  const options = new streamsPb.BatchAppendReq.Options();
  options.setStreamIdentifier(identifierOf(stream));
  options.setAny(new emptyPb.Empty());
  if (ofAppend !== undefined) options.setDeadline(timestampPb.Timestamp.fromDate(new Date(Date.now() + ofAppend)));
  const request = new streamsPb.BatchAppendReq();
  request.setCorrelationId(uuid());
  request.setOptions(options);
  request.addProposedMessages(proposed());
  call.write(request);
  return { call, ended, answers };
};

const uuid = (): sharedPb.UUID => {
  const id = new sharedPb.UUID();
  id.setString(crypto.randomUUID());
  return id;
};

const proposed = (): streamsPb.BatchAppendReq.ProposedMessage => {
  const message = new streamsPb.BatchAppendReq.ProposedMessage();
  message.setId(uuid());
  message.getMetadataMap().set('type', 'Counted').set('content-type', 'application/json');
  message.setData(Buffer.from('{"n":1}'));
  return message;
};

describe('an append that does not end', () => {
  const isNotThere = (stream: string) =>
    expect(numbersIn(client, stream)).rejects.toMatchObject({ type: 'stream-not-found' });

  test('is over at the deadline of its call, and nothing of it is written', async () => {
    const stream = newStream();
    expect(await begun(stream, { ofCall: 200 }).ended).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await isNotThere(stream);
  });

  test('is answered at its own deadline, and nothing of it is written', async () => {
    const stream = newStream();
    const { call, ended, answers } = begun(stream, { ofAppend: 200 });
    await once(call, 'data');
    expect(answers[0]!.getError()!.getDetails()!.getTypeName()).toBe('event_store.client.Timeout');
    await isNotThere(stream);
    call.cancel();
    await ended;
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
