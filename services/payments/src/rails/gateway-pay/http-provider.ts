import { AppError, fromMinor, ProviderPayment } from '@cpg/contracts';
import { Pool } from 'undici';
import { z } from 'zod';
import type { OutsideProvider } from './provider.ts';
import { parseReport } from './reported-payment.ts';
import type { ProviderSettings } from './settings.ts';
import { requireSignature, signedHeaders } from './signature.ts';

export interface HttpProviderOptions extends ProviderSettings {
  /** Of the gateway, which receives the callbacks. */
  readonly publicUrl: string;
  readonly now: () => Date;
  /** For a whole answer. */
  readonly timeoutMs?: number;
}

const MAX_RESPONSE_BYTES = 256 * 1024;
// Longer than orders waits: an order whose instructions come late is created without them.
const TIMEOUT_MS = 8_000;
const CONNECTIONS = 16;

const Page = z.object({
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
      return parseReport(schema, text);
    } catch (cause) {
      throw new AppError('dependency_unavailable', `the payment provider ${name} is unavailable: retry the request`, {
        cause,
      });
    }
  };

  return {
    name,
    supports: (currency) => currencies.includes(currency),
    registerOrder: async ({ orderId, currency, amountMinor }) => {
      const order = {
        order_id: orderId,
        currency,
        ...(amountMinor !== undefined && { amount: fromMinor(amountMinor, currency) }),
        callback_url: `${publicUrl}/v1/providers/${name}/payments`,
      };
      const { payment_reference: reference, payment_url: paymentUrl, qr_content } = await post('/orders', order, Page);
      return { reference, paymentUrl, ...(qr_content !== undefined && { qrContent: qr_content }) };
    },
    verify: (headers, body) => {
      requireSignature(headers, body, { secrets, now: now() });
      return parseReport(ProviderPayment, body);
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
