import { AppError, fromMinor, invalidRequest, OWN_PROVIDERS, PaymentCurrency, ProviderPayment } from '@cpg/contracts';
import { Secret, validationDetails } from '@cpg/platform';
import { Pool } from 'undici';
import { z } from 'zod';
import type { OutsideProvider } from './provider.ts';
import { requireSignature, signedHeaders } from './signature.ts';

/** The names of the providers that this gateway has itself, and of the chains: payment ids begin with them. */
const OWN_NAMES = [...OWN_PROVIDERS, 'bip122', 'eip155'];
const MAX_SECRETS = 2;

/** An outside provider. It speaks the protocol of `docs/payment-providers.md`. */
export const ProviderSettings = z.strictObject({
  /** Part of paths, instructions and payment ids: never give it to another provider. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: 'must be 1 to 32 lowercase letters, digits and hyphens' })
    .refine((name) => !OWN_NAMES.includes(name), {
      error: `must not be ${OWN_NAMES.join(', ')}: the gateway uses these names itself`,
    }),
  /** Production accepts https only: see `readProviders`. */
  url: z
    .url({ protocol: /^https?$/, error: 'must be an https:// address' })
    .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), {
      error: 'must have no user name and no password: both sides sign',
    })
    // Without the lookbehind, many slashes inside the URL would take quadratic time.
    .transform((url) => url.replace(/(?<!\/)\/+$/, '')),
  currencies: z.array(PaymentCurrency).min(1),
  /** The first one signs requests to the provider; both verify its callbacks. */
  secrets: z.array(Secret).min(1).max(MAX_SECRETS),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

export const ProvidersFile = z
  .strictObject({ providers: z.array(ProviderSettings) })
  .refine(({ providers }) => new Set(providers.map(({ name }) => name)).size === providers.length, {
    path: ['providers'],
    error: 'two providers have the same name',
  })
  .refine(({ providers }) => !isSecretShared(providers), {
    path: ['providers'],
    error: 'two providers have the same secret: each could sign for the other one',
  });

const isSecretShared = (providers: readonly ProviderSettings[]): boolean => {
  const ofEach = providers.flatMap(({ secrets }) => [...new Set(secrets)]);
  return new Set(ofEach).size < ofEach.length;
};

export interface HttpProviderOptions extends ProviderSettings {
  /** Of the gateway, which receives the callbacks. */
  readonly publicUrl: string;
  readonly now: () => Date;
  /** For a whole answer. */
  readonly timeoutMs?: number;
}

const MAX_RESPONSE_BYTES = 256 * 1024;
// Longer than the service orders waits. After its own timeout it creates the order without instructions; after an error
// from here it would refuse the order.
const TIMEOUT_MS = 8_000;
const CONNECTIONS = 16;

/** The answer to `POST /orders`. */
const RegisteredOrder = z.object({
  payment_reference: z.string().regex(/^[\x21-\x7e]{1,128}$/),
  payment_url: z.url({ protocol: /^https?$/ }).max(2_048),
  qr_content: z.string().min(1).max(2_048).optional(),
});
const Payments = z.object({ payments: z.array(z.unknown()).max(1_000) });

/** An outside provider that speaks the protocol of `docs/payment-providers.md`: signed JSON over HTTP, both ways. */
export const httpProvider = ({
  name,
  url,
  currencies,
  secrets,
  publicUrl,
  now,
  timeoutMs = TIMEOUT_MS,
}: HttpProviderOptions): OutsideProvider => {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    maxResponseSize: MAX_RESPONSE_BYTES,
    connect: { timeout: timeoutMs },
  });

  const post = async <T extends z.ZodType>(path: string, message: object, schema: T): Promise<z.output<T>> => {
    const body = JSON.stringify(message);
    const headers = { 'content-type': 'application/json', ...signedHeaders(secrets[0]!, body, now()) };
    try {
      // For the whole answer: one that drips would hold its connection for ever.
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await pool.request({ method: 'POST', path: `${prefix}${path}`, headers, body, signal });
      const text = Buffer.from(await answer.body.arrayBuffer());
      if (answer.statusCode !== 200) throw new Error(`${name} answered ${answer.statusCode} to POST ${path}`);
      return parseJson(schema, text);
    } catch (cause) {
      throw new AppError('dependency_unavailable', `the payment provider ${name} is unavailable: retry the request`, {
        cause,
      });
    }
  };

  return {
    name,
    supports: (currency) => currencies.includes(currency),
    registerOrder: async ({ orderId, currency, amountMinor, decimals }) => {
      const order = {
        order_id: orderId,
        currency,
        amount: fromMinor(amountMinor, decimals),
        callback_url: `${publicUrl}/v1/providers/${name}/payments`,
      };
      const {
        payment_reference: reference,
        payment_url: paymentUrl,
        qr_content,
      } = await post('/orders', order, RegisteredOrder);
      return { reference, paymentUrl, ...(qr_content !== undefined && { qrContent: qr_content }) };
    },
    verify: (headers, body) => {
      requireSignature(headers, body, { secrets, now: now() });
      return parseJson(ProviderPayment, body);
    },
    query: async (reference) => {
      const { payments } = await post('/payments/query', { payment_reference: reference }, Payments);
      const parsed = payments.map((payment) => ProviderPayment.safeParse(payment));
      return {
        payments: parsed.flatMap(({ data }) => data ?? []),
        faults: parsed.flatMap(({ error }) => (error ? [z.prettifyError(error)] : [])),
      };
    },
    close: () => pool.close(),
  };
};

/** Parses JSON with a schema. Throws `invalid_request` with the faults, 20 at most. */
const parseJson = <T extends z.ZodType>(schema: T, body: Buffer): z.output<T> => {
  const parsed = schema.safeParse(jsonIn(body));
  if (parsed.success) return parsed.data;
  throw invalidRequest(validationDetails(parsed.error));
};

const jsonIn = (body: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw invalidRequest([{ path: 'body', message: 'is not valid JSON in UTF-8' }]);
  }
};
