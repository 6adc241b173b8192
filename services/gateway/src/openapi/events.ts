import { EXAMPLE_IDS, sampleMessageOf, samplePayloadOf, WEBHOOK_EVENTS, WebhookEventType } from '@cpg/contracts';

/** Notes for receivers of webhooks, for the tag of the events. */
export const ABOUT_EVENTS = `The gateway sends each event to your enabled webhooks as an HTTPS POST with a JSON body. Answer with any 2xx status within 15 seconds.

**Verify the signature** over the raw body before you parse it, with the secret of the webhook (\`whsec_...\`). There are two equal ways:

1. \`x-signature\`: split it into \`t\` and the \`v1\` values. Compute HMAC-SHA256 over \`<x-idempotency-key>.<t>.<raw body>\` with the key that the part of the secret after \`whsec_\` is in base64. Compare the result in hexadecimal with each \`v1\`, in constant time. Refuse a \`t\` that is more than five minutes old.
2. [Standard Webhooks](https://www.standardwebhooks.com): pass the raw body, the three \`webhook-*\` headers and the secret to the library for your language.

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

const isGenuine = (rawBody, headers, secret) => {
  const [t, ...signatures] = headers['x-signature'].split(',').map((part) => part.split('=')[1]);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(\`\${headers['x-idempotency-key']}.\${t}.\`).update(rawBody).digest();
  const isRecent = Math.abs(Date.now() / 1000 - Number(t)) < 300;
  return isRecent && signatures.some((hex) => hex.length === 64 && timingSafeEqual(Buffer.from(hex, 'hex'), mac));
};
\`\`\`

\`\`\`js
import { Webhook } from 'standardwebhooks';

const event = new Webhook(secret).verify(rawBody, headers); // throws unless the gateway sent it
\`\`\`

After a rotation of the secret there is one more signature for each old secret, for 24 hours.

**Retries.** The first attempt is immediate. After a failure the gateway waits before each next attempt, ±20 %:

| attempt | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
|---|---|---|---|---|---|---|---|---|---|
| wait | 5 s | 5 min | 30 min | 2 h | 5 h | 10 h | 14 h | 20 h | 24 h |

\`Retry-After\` lengthens a wait, up to twice its length. Status 410 disables the webhook. So do five days in which every attempt failed, with at least ten attempts and one in the last day.

**At least once.** An event can arrive twice: store \`x-idempotency-key\`, and ignore an event that you know. A retry can arrive after a newer event of its order: compare \`x-sequence\`, and ignore an older state.`;

const text = { type: 'string' } as const;

const header = (name: string, description: string, example: string, schema: object = text) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
  example,
});

const MAC_HEX = 'a4c1f5e0d2b39687a4c1f5e0d2b39687a4c1f5e0d2b39687a4c1f5e0d2b39687';
const MAC_BASE64 = 'pMH14NKzloekwfXg0rOWh6TB9eDSs5aHpMH14NKzloc=';

const headersOf = ({ time, sequence, cpghash: hash }: { time: string; sequence: string; cpghash: string }) => {
  const atMs = Date.parse(time);
  const attemptAt = String(atMs / 1_000);
  return [
    header(
      'x-signature',
      'The Unix time of this attempt in seconds, and the HMAC-SHA256 over `<x-idempotency-key>.<t>.<raw body>` in hexadecimal: one `v1` per valid secret.',
      `t=${attemptAt},v1=${MAC_HEX}`,
      { type: 'string', pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
    ),
    header('x-timestamp', 'When the event happened, in Unix milliseconds: `timestamp` of the body.', String(atMs)),
    header(
      'x-idempotency-key',
      'The id of the event: the same on every attempt, redelivery and replay.',
      EXAMPLE_IDS.event,
    ),
    header('x-sequence', 'The number of the event on its order or payment. A higher one is newer.', sequence),
    {
      ...header(
        'x-event-hash',
        'The hash of the recorded event, as `hash` in the history of its order. Keep it to prove later that neither this event nor an earlier one of its order or payment was changed. A test delivery has none.',
        hash,
      ),
      required: false,
    },
    header('x-delivery-id', 'The id of the delivery: the same on every attempt.', EXAMPLE_IDS.delivery),
    header('webhook-id', 'Standard Webhooks: equal to `x-idempotency-key`.', EXAMPLE_IDS.event),
    header('webhook-timestamp', 'Standard Webhooks: the Unix time of this attempt in seconds.', attemptAt),
    header(
      'webhook-signature',
      'Standard Webhooks: the same HMAC in base64, one `v1,...` per valid secret, separated by spaces.',
      `v1,${MAC_BASE64}`,
    ),
  ];
};

const RESPONSES = {
  '2XX': { description: 'The event was received.' },
  410: { description: 'The endpoint is gone: the webhook is disabled.' },
  default: { description: 'Any other answer, or none within 15 seconds, is a failure: the gateway tries again.' },
};

const operationOf = (event: WebhookEventType) => {
  const [object, action] = event.split(':') as [string, string];
  return {
    operationId: `on${capitalized(object)}${capitalized(action)}`,
    summary: event,
    description: WEBHOOK_EVENTS[event].when,
    tags: ['Events'],
    security: [],
    parameters: headersOf(sampleMessageOf(event)),
    requestBody: {
      required: true,
      description: 'The event, and the object right after it. The bytes are the same on every attempt.',
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${capitalized(object)}WebhookPayload` },
          example: samplePayloadOf(event),
        },
      },
    },
    responses: RESPONSES,
  };
};

const capitalized = (word: string): string => `${word[0]!.toUpperCase()}${word.slice(1)}`;

/** The `webhooks` section of the document: every event, as a request that the merchant's endpoint receives. */
export const WEBHOOKS = Object.fromEntries(
  WebhookEventType.options.map((event) => [event, { post: operationOf(event) }]),
);
