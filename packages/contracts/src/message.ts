import type { Envelope } from './envelope.ts';
import { type DomainMessage, messageTypeOf, schemaIdOf } from './topics.ts';

/** A recorded event, as far as its message shows it. */
interface PublishedEvent {
  readonly id: string;
  readonly revision: number;
  readonly event: { readonly type: string; readonly data: { readonly at: string } };
  readonly metadata: { readonly $correlationId: string; readonly $causationId: string };
}

interface MessageSubject {
  readonly source: '/orders' | '/payments';
  /** The id of the order or payment. */
  readonly subject: string;
  readonly orderId: string;
  readonly merchantId: string;
}

/** The CloudEvents message of a recorded event. `resource` is the order or payment right after it, as the API shows it;
 *  null once it is deleted. The same event always gives the same message. Null for an event that is not published, and
 *  for an event of an unknown type, which a newer version recorded. */
export const messageFor = (
  { id, event, metadata, revision }: PublishedEvent,
  { source, subject, orderId, merchantId }: MessageSubject,
  resource: unknown,
): (Envelope & { readonly type: DomainMessage['type']; readonly data: unknown }) | null => {
  const type = messageTypeOf(event.type);
  if (type === null) return null;
  return {
    type,
    specversion: '1.0',
    id,
    source,
    subject,
    time: event.data.at,
    datacontenttype: 'application/json',
    dataschema: schemaIdOf(type),
    sequence: String(revision),
    correlationid: metadata.$correlationId,
    causationid: metadata.$causationId,
    merchantid: merchantId,
    orderid: orderId,
    data: { change: event.data, resource },
  };
};
