import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import projectionsGrpc from '@eventstore/db-client/generated/projections_grpc_pb.js';
import projectionsPb from '@eventstore/db-client/generated/projections_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type statusPb from '@eventstore/db-client/generated/status_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { hostOf, identifierOf, streamsClient } from '../testing/jest-grpc.ts';
import { collect, counted, newStream, numbersIn, useStore } from '../testing/jest-store.ts';

const { Empty, UUID } = sharedPb;
const { ReadReq, BatchAppendReq } = streamsPb;
const { Options } = ReadReq;

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));
let streams: StreamsClient;
beforeAll(() => (streams = streamsClient(store.url)));
afterAll(() => streams.close());

const readOptions = (uuids: 'string' | 'structured') => {
  const options = new Options();
  const uuidOption = new Options.UUIDOption();
  if (uuids === 'string') uuidOption.setString(new Empty());
  else uuidOption.setStructured(new Empty());
  options.setUuidOption(uuidOption);
  options.setCount('100');
  options.setNoFilter(new Empty());
  return options;
};

const streamFromStart = (options: streamsPb.ReadReq.Options, stream: string) => {
  const of = new Options.StreamOptions();
  of.setStreamIdentifier(identifierOf(stream));
  of.setStart(new Empty());
  options.setStream(of);
  return options;
};

const readWith = (options: streamsPb.ReadReq.Options): Promise<streamsPb.ReadResp[]> => {
  const request = new ReadReq();
  request.setOptions(options);
  return collect(streams.read(request) as AsyncIterable<streamsPb.ReadResp>);
};

test('event ids are sent as two integers if the client asks for that', async () => {
  const stream = newStream();
  const [event] = counted(1);
  await client.appendToStream(stream, event!);
  const [response] = await readWith(streamFromStart(readOptions('structured'), stream));
  const halves = response!.getEvent()!.getEvent()!.getId()!.getStructured()!;
  const hex = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()]
    .map((half) => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0'))
    .join('');
  expect(hex).toBe(event!.id.replaceAll('-', ''));
});

test('clients that understand positions receive the last stream position', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1, 2, 3));
  const options = streamFromStart(readOptions('string'), stream);
  const control = new Options.ControlOption();
  control.setCompatibility(1);
  options.setControlOption(control);
  const responses = await readWith(options);
  expect(responses.map((response) => response.hasEvent())).toEqual([true, true, true, false]);
  expect(responses.at(-1)!.getLastStreamPosition()).toBe('2');
});

test.each(['stream prefix', 'stream expression', 'type prefix', 'type expression'] as const)(
  'a read of $all can be filtered by %s, in both directions and up to a count',
  async (by) => {
    const [one, other] = [newStream('one'), newStream('other')];
    const typed = (n: number) => jsonEvent({ type: `Typed-${one}`, data: { n } });
    for (const n of [0, 1, 2]) {
      await client.appendToStream(one, typed(n));
      await client.appendToStream(other, counted(10 + n));
    }
    const read = async (direction: 0 | 1, count: number) => {
      const options = readOptions('string');
      const all = new Options.AllOptions();
      if (direction === 0) all.setStart(new Empty());
      else all.setEnd(new Empty());
      options.setAll(all);
      options.setReadDirection(direction);
      const expression = new Options.FilterOptions.Expression();
      const filter = new Options.FilterOptions();
      const name = by.startsWith('type') ? `Typed-${one}` : one;
      if (by.endsWith('prefix')) expression.addPrefix(name.slice(0, -1));
      else expression.setRegex(`^${name.slice(0, -1)}.$`);
      if (by.startsWith('type')) filter.setEventType(expression);
      else filter.setStreamIdentifier(expression);
      filter.setCount(new Empty());
      filter.setCheckpointintervalmultiplier(1);
      options.setFilter(filter);
      options.setCount(String(count));
      const responses = (await readWith(options)).filter((response) => response.hasEvent());
      return responses.map((response) => response.getEvent()!.getEvent()!.getStreamRevision());
    };
    expect(await read(0, 100)).toEqual(['0', '1', '2']);
    expect(await read(1, 2)).toEqual(['2', '1']);
  },
);

/** Sends one complete batch append without events, and resolves with its answer. `call` stays open. */
const batchAppend = async (stream: string, deadlineMs: number) => {
  const call = streams.batchAppend();
  const ended = new Promise<ServiceError | null>((resolve) =>
    call.once('error', resolve).once('end', () => resolve(null)),
  );
  const options = new BatchAppendReq.Options();
  options.setStreamIdentifier(identifierOf(stream));
  options.setAny(new Empty());
  options.setDeadline(timestampPb.Timestamp.fromDate(new Date(Date.now() + deadlineMs)));
  const request = new BatchAppendReq();
  const correlationId = new UUID();
  correlationId.setString('7a8b0d1c-2f44-4a6e-9df1-0c9a51f4b001');
  request.setCorrelationId(correlationId);
  request.setOptions(options);
  request.setIsFinal(true);
  call.write(request);
  const [answer] = (await once(call, 'data')) as [streamsPb.BatchAppendResp];
  return { call, ended, answer };
};

test('an append past its deadline is answered with a timeout', async () => {
  const stream = newStream();
  const { call, ended, answer } = await batchAppend(stream, -1_000);
  call.cancel();
  await ended;
  expect(answer.getCorrelationId()!.getString()).toBe('7a8b0d1c-2f44-4a6e-9df1-0c9a51f4b001');
  expect((answer.getError() as statusPb.Status).getDetails()!.getTypeName()).toBe('event_store.client.Timeout');
  await expect(numbersIn(client, stream)).rejects.toMatchObject({ type: 'stream-not-found' });
});

test('a batch append call that the client has ended stays open until the client cancels it', async () => {
  const { call, ended } = await batchAppend(newStream(), -1_000);
  call.end();
  // By the answer to a later call, the server has received the end.
  await client.appendToStream(newStream(), counted(1));
  expect(await Promise.race([ended, sleep(100, 'open')])).toBe('open');
  call.cancel();
  expect(await ended).toMatchObject({ code: status.CANCELLED });
});

test('a request without options is refused', async () => {
  await expect(collect(streams.read(new ReadReq()) as AsyncIterable<unknown>)).rejects.toMatchObject({
    code: expect.any(Number),
  });
});

test('a client that discovers nodes by gossip finds this node', async () => {
  const discovering = store.connect(`esdb+discover://${hostOf(store.url)}?tls=false`);
  const stream = newStream();
  await discovering.appendToStream(stream, counted(1));
  expect(await numbersIn(discovering, stream)).toEqual([1]);
});

test('the server features list the supported methods', async () => {
  const features = new featuresGrpc.ServerFeaturesClient(hostOf(store.url), credentials.createInsecure());
  const supported = await new Promise<string[]>((resolve, reject) => {
    features.getSupportedMethods(new Empty(), (error, response) => {
      if (error) reject(error);
      else resolve(response.getMethodsList().map((m) => `${m.getServiceName()}/${m.getMethodName()}`));
    });
  });
  features.close();
  expect(supported).toEqual(
    expect.arrayContaining(
      ['read', 'append', 'batchappend', 'delete', 'tombstone'].map((m) => `event_store.client.streams.streams/${m}`),
    ),
  );
});

(process.env.EVENTSTORE_URL ? test.skip : test)('calls that are not supported fail with UNIMPLEMENTED', async () => {
  const projections = new projectionsGrpc.ProjectionsClient(hostOf(store.url), credentials.createInsecure());
  const error = await new Promise<ServiceError | null>((resolve) => {
    projections.create(new projectionsPb.CreateReq(), (refused) => resolve(refused));
  });
  projections.close();
  expect(error).toMatchObject({ code: status.UNIMPLEMENTED });
});
