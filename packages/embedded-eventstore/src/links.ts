import { LINK_TYPE, type ProposedEvent, type RecordedEvent } from './events.ts';
import type { Reader } from './storage/reader.ts';
import type { ReadMessage } from './subscriptions/messages.ts';

const LINK = /^(\d+)@(.+)$/s;

/** What stands for `event` in another stream. */
export const linkTo = (event: RecordedEvent, id: string, metadata: Uint8Array): ProposedEvent => ({
  id,
  type: LINK_TYPE,
  isJson: false,
  data: Buffer.from(`${event.revision}@${event.stream}`),
  metadata,
});

/** An event as readers want it: one that a link stands for comes with the link, and is left out when it is gone. */
export interface Resolved {
  readonly event?: RecordedEvent;
  readonly link?: RecordedEvent;
}

/** Follows a link one step; what is no link stays as it is. */
export const resolve = async (reader: Reader, event: RecordedEvent): Promise<Resolved> => {
  if (event.type !== LINK_TYPE) return { event };
  const [, revision, stream] = LINK.exec(Buffer.from(event.data).toString()) ?? [];
  if (revision === undefined || stream === undefined) return { link: event };
  const { status, events } = await reader.streamForwards(stream, BigInt(revision), 1);
  const target = events[0];
  return status === 'exists' && target?.revision === BigInt(revision)
    ? { event: target, link: event }
    : { link: event };
};

/** `messages`, with each link followed. */
export async function* withLinks(reader: Reader, messages: AsyncIterable<ReadMessage>): AsyncGenerator<ReadMessage> {
  for await (const message of messages) {
    if (message.kind !== 'event' || message.event?.type !== LINK_TYPE) yield message;
    else yield { kind: 'event', ...(await resolve(reader, message.event)) };
  }
}
