import { messageTypeOf, schemaIdOf } from '@cpg/contracts';
import type { DomainEvent, Recorded } from '../store/recorded.ts';
import type { OutgoingMessage } from '@cpg/platform/kafka';

type PublishedEvent = Pick<Recorded<DomainEvent & { data: { at: string } }>, 'id' | 'event' | 'metadata' | 'revision'>;

export interface MessageSubject {
  /** `/orders` or `/payments`. */
  readonly source: string;
  /** The id of the order or payment. */
  readonly subject: string;
  readonly orderId: string;
  readonly merchantId: string;
}

/** The CloudEvents message of a recorded event, with the order or payment right after it, as the API shows it; null
 *  once it is deleted. The same event always gives the same message. Null for an event that is not published, and for
 *  an event of an unknown type, which a newer version recorded. */
export const messageFor = (recorded: PublishedEvent, subject: MessageSubject, resource: unknown) => {
  const envelope = envelopeOf(recorded, subject);
  return envelope && { ...envelope, data: { change: recorded.event.data, resource } };
};

/** The message as `messageFor` makes it, for a resource that is JSON text already. */
export const outgoingMessage = (
  recorded: PublishedEvent,
  subject: MessageSubject,
  resourceText: string,
): OutgoingMessage | null => {
  const envelope = envelopeOf(recorded, subject);
  if (!envelope) return null;
  const { id, orderid, time } = envelope;
  const data = `{"change":${JSON.stringify(recorded.event.data)},"resource":${resourceText}}`;
  return { id, orderid, time, text: `${JSON.stringify(envelope).slice(0, -1)},"data":${data}}` };
};

const envelopeOf = (
  { id, event, metadata, revision }: PublishedEvent,
  { source, subject, orderId, merchantId }: MessageSubject,
) => {
  const type = messageTypeOf(event.type);
  if (type === null) return null;
  return {
    type,
    specversion: '1.0' as const,
    id,
    source,
    subject,
    time: event.data.at,
    datacontenttype: 'application/json' as const,
    dataschema: schemaIdOf(type),
    sequence: String(revision),
    correlationid: metadata.$correlationId,
    causationid: metadata.$causationId,
    merchantid: merchantId,
    orderid: orderId,
  };
};
