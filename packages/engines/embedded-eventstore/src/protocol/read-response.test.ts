import { randomUUID } from 'node:crypto';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { readResponse } from './read.ts';
import { uuidOf } from './messages.ts';

const eventAt = (position: number, bytes = 10) => ({
  id: randomUUID(),
  type: 'Counted',
  isJson: true,
  data: Buffer.alloc(bytes, position % 256),
  metadata: Buffer.from('{}'),
  position: BigInt(position),
  stream: 'counter-1',
  revision: BigInt(position - 1),
  createdTicks: 17_000_000_000_000_000n,
});

const FORMS = ['structured', 'string'] as const;

test('each subscription gets each event, with its id in the form that it asked for', () => {
  const events = Array.from({ length: 200 }, (_, index) => eventAt(index + 1, index % 50 === 0 ? 100_000 : 10));
  // Some subscriptions follow each event at once, another one is far behind.
  const sent = [events.flatMap((event) => [event, event]), events].flat();
  for (const event of sent) {
    for (const form of FORMS) {
      const bytes = readResponse({ kind: 'event', event }, form).serializeBinary();
      const read = streamsPb.ReadResp.deserializeBinary(bytes).getEvent()!.getEvent()!;
      expect(read.getId()!.hasString()).toBe(form === 'string');
      expect(uuidOf(read.getId())).toBe(event.id);
      expect(read.getCommitPosition()).toBe(String(event.position));
      expect(Buffer.from(read.getData_asU8()).equals(event.data)).toBe(true);
    }
  }
});
