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

/** Starts a batch append without its last part. `ended` resolves with the error that ends the call. */
const startAppend = (stream: string, deadlineMs: { readonly ofCall?: number; readonly ofAppend?: number } = {}) => {
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

describe('an unfinished append', () => {
  const expectNotFound = (stream: string) =>
    expect(numbersIn(client, stream)).rejects.toMatchObject({ type: 'stream-not-found' });

  test('ends at the deadline of its call, and writes nothing', async () => {
    const stream = newStream();
    expect(await startAppend(stream, { ofCall: 200 }).ended).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await expectNotFound(stream);
  });

  test('is answered at its own deadline, and writes nothing', async () => {
    const stream = newStream();
    const { call, ended, answers } = startAppend(stream, { ofAppend: 200 });
    await once(call, 'data');
    expect(answers[0]!.getError()!.getDetails()!.getTypeName()).toBe('event_store.client.Timeout');
    await expectNotFound(stream);
    call.cancel();
    await ended;
  });

  test('ends when its call is cancelled, and writes nothing', async () => {
    for (const _ of range(0, 20)) {
      const stream = newStream();
      const { call, ended } = startAppend(stream);
      await numbersIn(client, newStream()).catch(() => {}); // by now the server has received the append
      call.cancel();
      expect(await ended).toMatchObject({ code: status.CANCELLED });
      await client.appendToStream(stream, counted(2), { expectedRevision: 'no_stream' });
      expect(await numbersIn(client, stream)).toEqual([2]);
    }
  });
});

test('a call with a deadline of 0 ms fails with a deadline error', async () => {
  const [stream, credentials] = [newStream(), { username: 'admin', password: 'changeit' }];
  await expect(client.appendToStream(stream, counted(1), { deadline: 0, credentials })).rejects.toBeInstanceOf(
    DeadlineExceededError,
  );
  await expect(client.setStreamMetadata(stream, {}, { deadline: 0 })).rejects.toBeInstanceOf(DeadlineExceededError);
});

test('the server serves on after subscribers have unsubscribed', async () => {
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

test('a subscription and a read deliver events of 1 MB', async () => {
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
