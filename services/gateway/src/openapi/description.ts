import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

export const API_VERSION = '1.1.0';

const ABOUT = `A merchant-facing gateway for payments in crypto assets and stablecoins.

**Keys.** Every \`/v1\` request carries \`x-api-key\`. Keys of the sandbox begin with \`ak_sandbox_\`, keys of production with \`ak_live_\`; each carries scopes.

**Amounts** are decimal strings, never numbers. They come out with the fixed number of decimals of their currency; more decimals than the currency has are refused, never rounded.

**Same key, same answer.** A POST with an \`Idempotency-Key\` can be sent again for 24 hours: it has its effect once, also when the connection broke or the service crashed in between, and the answer is the first one.

**Lists** are pages by creation time: \`page\` 1 to 1000, \`limit\` 1 to 100. Stop when \`page >= totalPages\`.

**Errors** have \`error\`, \`message\`, \`statusCode\`, a stable \`code\` and a \`request_id\`; [the catalogue](/docs/errors.md) says of every \`code\` when it comes and what to do. Checks run in this order: 401, 429, 403, 400, 404, 409. Fields and parameters that do not exist are refused by name.

**Limits.** Requests per key are limited by a token bucket; \`RateLimit-*\` headers say what is left. After 429 or 503, wait as long as \`Retry-After\` says.

**Versions.** \`/v1\` only grows: ignore fields you do not know. A breaking change is a new version, and \`Deprecation\` and \`Sunset\` headers announce the end of an old one 12 months ahead.`;

const seconds = { schema: { type: 'integer', minimum: 0 } } as const;

/** What of the document does not follow from the routes. */
export const DESCRIPTION: NonNullable<FastifyDynamicSwaggerOptions['openapi']> = {
  openapi: '3.1.0',
  info: { title: 'Crypto payment gateway API', version: API_VERSION, description: ABOUT },
  servers: [{ url: '/', description: 'This environment' }],
  tags: [
    { name: 'Merchant', description: 'Who the key belongs to.' },
    { name: 'Orders', description: 'What is to be paid, and how it stands.' },
    { name: 'Payments', description: 'The money that came in.' },
    { name: 'Webhooks', description: 'Which events are delivered where.' },
    {
      name: 'Sandbox',
      description:
        'Stands in for a payer, the rails, the clock and an event, so that every case can be tried without waiting and without coins. Sandboxes only; in production these are 404.',
    },
    { name: 'Health' },
  ],
  components: {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: '`ak_sandbox_...` or `ak_live_...`' },
    },
    parameters: {
      'Idempotency-Key': {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Makes the request safe to send again: per merchant, kept 24 hours. The same request gets the stored answer, another one 422, one that is still running 409. For example `checkout-1042-attempt-1`.',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    },
    headers: {
      'X-Request-Id': { description: 'Names this request in the logs.', schema: { type: 'string' } },
      'RateLimit-Limit': {
        description: 'Requests that a full bucket holds. Absent when there is no limit.',
        ...seconds,
      },
      'RateLimit-Remaining': { description: 'Requests that are left now.', ...seconds },
      'RateLimit-Reset': { description: 'Seconds until the bucket is full again.', ...seconds },
      'Retry-After': { description: 'Seconds to wait.', ...seconds },
      'Idempotency-Replayed': {
        description: '`true` when this is the stored answer to an earlier request.',
        schema: { type: 'string', enum: ['true'] },
      },
    },
  },
};
