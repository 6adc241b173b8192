import { z } from 'zod';
import { EventId, MerchantId, Timestamp } from './ids.ts';

/** Attributes of every Kafka message: CloudEvents 1.0, structured JSON, with the extensions `sequence`,
 *  `actor`, `correlationid`, `causationid`, `merchantid`, `orderid` and `cpghash`. */
export const ENVELOPE = {
  specversion: z.literal('1.0'),
  id: EventId,
  source: z.string(),
  subject: z.string().describe('The id of the order or payment.'),
  time: Timestamp,
  datacontenttype: z.literal('application/json'),
  dataschema: z.string().describe('The `$id` of the schema of `data`: an absolute URI.'),
  /** The number of the event on its stream, from 0, in the form of the CloudEvents sequence extension. */
  sequence: z.string().regex(/^\d+$/),
  actor: z
    .string()
    .optional()
    .describe(
      'Who caused the event: `key:` and the begin of an API key, `user:` and an id, `operator` with or without a name, or `service:` and a name. Absent in messages of versions before 0.2.0.',
    ),
  correlationid: z.string(),
  causationid: z.string(),
  merchantid: MerchantId,
  orderid: z.string().describe('The order of the event. It is the partition key.'),
  cpghash: z
    .string()
    .describe(
      'The hash of the recorded event, in hexadecimal. Keep it: it proves later that neither this event nor an earlier one of its stream was changed.',
    ),
};
export type Envelope = z.infer<z.ZodObject<typeof ENVELOPE>>;
