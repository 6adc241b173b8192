import { randomUUID } from 'node:crypto';
import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type { Metadata, ServerDuplexStream } from '@grpc/grpc-js';
import type { Message, NackAction } from '../../persistent/group.ts';
import type { Groups } from '../../persistent/groups.ts';
import type { RunningGroup, Subscriber } from '../../persistent/running-group.ts';
import { invalid } from '../../refusals.ts';
import { recorded, type UuidForm, uuidOf } from '../messages.ts';
import { keyOf } from './manage.ts';

const { ReadResp } = persistentPb;
const { ReadEvent } = ReadResp;
type ReadCall = ServerDuplexStream<persistentPb.ReadReq, persistentPb.ReadResp>;

const ACTIONS: readonly NackAction[] = ['unknown', 'park', 'retry', 'skip', 'stop'];

/** One subscriber of a group: messages one way, acknowledgements the other, until the client is gone or dropped. */
export const read = async (groups: Groups, call: ReadCall, signal: AbortSignal): Promise<void> => {
  const first = await firstRequest(call, signal);
  const options = first?.getOptions();
  if (!options) throw invalid('the first message of a subscriber has its options');
  const uuids = options.getUuidOption()?.hasString() ? 'string' : 'structured';
  const id = randomUUID();
  let drop: Subscriber['drop'] = () => {};
  const dropped = new Promise<never>((_, reject) => {
    drop = reject;
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  dropped.catch(() => {}); // it may come while nobody waits for it yet
  const group = await groups.join(keyOf(options), {
    id,
    capacity: options.getBufferSize(),
    user: userOf(call.metadata),
    from: call.getPeer(),
    connectionName: String(call.metadata.get('connection-name')[0] ?? '<unknown>'),
    welcome: (subscriptionId) => call.write(confirmation(subscriptionId)),
    send: (message) => call.write(eventOf(message, uuids)),
    drop,
  });
  try {
    await Promise.race([dropped, answers(group, id, call)]);
  } finally {
    group.leave(id);
  }
};

/** The first request, the others being held back; none if the client ends before. */
const firstRequest = (call: ReadCall, signal: AbortSignal): Promise<persistentPb.ReadReq | undefined> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    call.once('end', () => resolve(undefined));
    call.once('data', (request: persistentPb.ReadReq) => {
      call.pause();
      resolve(request);
    });
  });

/** Resolves when the client ends its side. */
const answers = (group: RunningGroup, id: string, call: ReadCall): Promise<void> =>
  new Promise((resolve, reject) => {
    call.on('drain', () => group.unblock(id));
    call.on('end', resolve);
    call.on('data', (request: persistentPb.ReadReq) => {
      try {
        receive(group, request);
      } catch (error) {
        reject(error);
      }
    });
    call.resume();
  });

const receive = (group: RunningGroup, request: persistentPb.ReadReq): void => {
  const [ack, nack] = [request.getAck(), request.getNack()];
  if (ack) group.acknowledge(ack.getIdsList().map(uuidOf));
  else if (nack) {
    const ids = nack.getIdsList().map(uuidOf);
    group.refuse(ids, ACTIONS[nack.getAction()] ?? 'unknown', nack.getReason());
  } else throw invalid('a subscriber acknowledges or refuses, after its first message');
};

const confirmation = (subscriptionId: string): persistentPb.ReadResp => {
  const confirmed = new ReadResp.SubscriptionConfirmation();
  confirmed.setSubscriptionId(subscriptionId);
  const response = new ReadResp();
  response.setSubscriptionConfirmation(confirmed);
  return response;
};

const eventOf = ({ event, link, retryCount }: Message, uuids: UuidForm): persistentPb.ReadResp => {
  const sent = new ReadEvent();
  sent.setEvent(recorded(new ReadEvent.RecordedEvent(), event, uuids));
  if (link) sent.setLink(recorded(new ReadEvent.RecordedEvent(), link, uuids));
  sent.setCommitPosition(String((link ?? event).position));
  sent.setRetryCount(retryCount);
  const response = new ReadResp();
  response.setEvent(sent);
  return response;
};

/** Who the client says it is: nobody is asked to prove it. */
const userOf = (metadata: Metadata): string => {
  const [, encoded] = /^Basic (.+)$/i.exec(String(metadata.get('authorization')[0] ?? '')) ?? [];
  return encoded === undefined ? 'anonymous' : Buffer.from(encoded, 'base64').toString().split(':')[0]!;
};
