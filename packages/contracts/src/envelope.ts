import { z } from 'zod';
import { EventId, MerchantId, Timestamp } from './ids.ts';

/** CloudEvents 1.0, structured JSON, with the extensions `sequence`, `correlationid`, `causationid`, `merchantid` and `orderid`. */
const attributes = {
  specversion: z.literal('1.0'),
  id: EventId,
  source: z.string(),
  subject: z.string().describe('The id of the order or payment.'),
  time: Timestamp,
  datacontenttype: z.literal('application/json'),
  dataschema: z.string(),
  /** The event's number on its stream, from 0, as the CloudEvents sequence extension writes it. */
  sequence: z.string().regex(/^\d+$/),
  correlationid: z.string(),
  causationid: z.string(),
  merchantid: MerchantId,
  orderid: z.string().describe('The order concerned: the partition key.'),
};

/** The envelope of one event type: `data.change` is the event's own data, `data.resource` the resource right after it (null once it is deleted). */
export const envelopeOf = <T extends string, C extends z.ZodType, R extends z.ZodType>(
  type: T,
  change: C,
  resource: R,
) => z.object({ ...attributes, type: z.literal(type), data: z.object({ change, resource }) });
