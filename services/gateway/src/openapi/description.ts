import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { ABOUT_EVENTS, WEBHOOKS } from './events.ts';

const API_VERSION = '1.1.0';
export const TITLE = 'Crypto payment gateway API';

const ABOUT = `Accept payments in crypto assets and stablecoins. The [guide for merchants](/docs/guide) explains what an order goes through, fees, and webhooks.

**API keys.** Send your API key in the header \`x-api-key\` with every \`/v1\` request. Sandbox keys start with \`ak_sandbox_\`, production keys with \`ak_live_\`. The scopes of a key limit what it can do.

**Amounts** are decimal strings, not numbers. Responses contain the fixed number of decimals of the currency. Requests with more decimals than the currency has are refused, never rounded.

**Idempotency.** Send an \`Idempotency-Key\` with a POST to make retries safe for 24 hours. The request takes effect once, even if the connection breaks or the service crashes, and repeats return the first response: for a new order, the order as it was right after its creation.

**Lists** are paginated and sorted by creation time: \`page\` is 1 to 1000, \`limit\` is 1 to 100. Stop when \`page >= totalPages\`. To read everything while new items come, leave \`page\` out and follow \`next\` in the \`Link\` header, or \`next_cursor\`: each item that exists at the start comes exactly once. \`total\` is exact, also with filters and dates.

**Errors** contain \`error\`, \`message\`, \`statusCode\`, a stable \`code\` and a \`request_id\`. The [error catalogue](/docs/errors) explains each \`code\`. Requests are checked in this order: 401, 429, 403, 400, 404, 409. Unknown fields and parameters are refused, and the error names them.

**Protocol errors.** A request that is not valid HTTP/1.1 returns 400, and one with more than 16 KiB of headers returns 431, with the same body as all errors. The connection is then closed.

**Rate limits** apply per API key, by a token bucket. The \`RateLimit-*\` headers contain the current state. After 429 or 503, wait for the number of seconds in \`Retry-After\`.

**Versions.** The version of this document is that of the API; the gateway and the client have versions of their own. \`/v1\` only gets additions: ignore fields that you do not know. Enums marked with \`x-extensible-enum\` are open: they can get new values, so handle a value that you do not know. The same holds for the types of \`HistoryEntry\`, and for new rails in \`DepositInstruction\`. A breaking change gets a new version. The \`Deprecation\` and \`Sunset\` headers announce the end of an old version 12 months in advance.`;

const seconds = { schema: { type: 'integer', minimum: 0 } } as const;

/** The parts of the document that are not generated from the routes. */
export const DESCRIPTION: NonNullable<FastifyDynamicSwaggerOptions['openapi']> = {
  openapi: '3.1.0',
  info: {
    title: TITLE,
    version: API_VERSION,
    description: ABOUT,
    contact: { name: 'The operator of this gateway' },
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'This environment' }],
  tags: [
    { name: 'Merchant', description: 'The merchant that the API key belongs to.' },
    { name: 'Orders', description: 'An order is a request for payment. It tracks the amount due and its payments.' },
    { name: 'Payments', description: 'A payment is money that was received for an order.' },
    { name: 'API keys', description: 'The keys of your merchant, without the keys themselves.' },
    { name: 'Requests', description: 'The requests of the last days that were made with the keys of your merchant.' },
    { name: 'Users', description: 'The people who sign in to the dashboard of your merchant, and their roles.' },
    { name: 'Webhooks', description: 'Webhooks deliver events to your server.' },
    {
      name: 'Sandbox',
      description:
        'Simulates payers, rails, time and events, to test every case without waiting and without real funds. Available in sandboxes only: in production these paths return 404.',
    },
    { name: 'Providers', description: 'For outside payment providers of `gateway_pay`, not for merchants.' },
    { name: 'Events', description: ABOUT_EVENTS },
    { name: 'Health', description: 'Checks for load balancers and orchestrators. They need no key.' },
  ],
  webhooks: WEBHOOKS,
  components: {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: '`ak_sandbox_...` or `ak_live_...`' },
      providerSignature: {
        type: 'apiKey',
        in: 'header',
        name: 'x-provider-signature',
        description: 'A signature of the body with the secret that the provider and the operator share.',
      },
    },
    parameters: {
      'Idempotency-Key': {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Makes retries of the request safe. Keys are unique per merchant and kept for 24 hours. A repeat of the same request returns the stored response, a different request returns 422, and a repeat while the first request is running returns 409. For `POST /v1/orders` nothing is stored: a repeat returns the order as it was right after its creation, also while the first request is running, and a request that was refused is decided anew. Use a key for one request only. Example: `checkout-1042-attempt-1`.',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    },
    headers: {
      'X-Request-Id': { description: 'The id of this request in the logs.', schema: { type: 'string' } },
      'RateLimit-Limit': {
        description: 'The size of the token bucket, in requests. Absent if there is no limit.',
        ...seconds,
      },
      'RateLimit-Remaining': { description: 'The number of requests that are allowed now.', ...seconds },
      'RateLimit-Reset': { description: 'Seconds until the token bucket is full.', ...seconds },
      Location: { description: 'The path of the resource that was created.', schema: { type: 'string' } },
      Link: {
        description: 'The other pages (RFC 8288): `first`, `prev`, `next` and `last`; for a history only `next`.',
        schema: { type: 'string' },
      },
      'Retry-After': { description: 'Seconds to wait before the next request.', ...seconds },
      'Idempotency-Replayed': {
        description: '`true` if this is the response of an earlier request.',
        schema: { type: 'string', enum: ['true'] },
      },
    },
  },
};
