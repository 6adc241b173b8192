import { messageTypeOf, schemaIdOf } from '@cpg/contracts';
import type { DomainEvent, Recorded } from '@cpg/event-store';

export interface MessageSubject {
  /** `/orders` or `/payments`. */
  readonly source: string;
  /** The id of the order or payment. */
  readonly subject: string;
  readonly orderId: string;
  readonly merchantId: string;
  /** The order or payment right after the event, as the API shows it; null once it is deleted. */
  readonly resource: unknown;
}

/** The CloudEvents message of a recorded event. The same event always gives the same message. Null for an event that is
 *  not published, and for an event of an unknown type, which a newer version recorded. */
export const messageFor = (
  {
    id,
    event,
    metadata,
    revision,
  }: Pick<Recorded<DomainEvent & { data: { at: string } }>, 'id' | 'event' | 'metadata' | 'revision'>,
  { source, subject, orderId, merchantId, resource }: MessageSubject,
) => {
  const type = messageTypeOf(event.type);
  if (type === null) return null;
  return {
    specversion: '1.0' as const,
    id,
    source,
    type,
    subject,
    time: event.data.at,
    datacontenttype: 'application/json' as const,
    dataschema: schemaIdOf(type),
    sequence: String(revision),
    correlationid: metadata.$correlationId,
    causationid: metadata.$causationId,
    merchantid: merchantId,
    orderid: orderId,
    data: { change: event.data, resource },
  };
};
