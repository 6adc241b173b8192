import { join } from 'node:path';
import type { MerchantCreateOrderDto } from '@cpg/contracts';
import { z } from 'zod';
import type { RunningStack } from './stack.ts';

/** The text that the launcher prints when everything is ready. */
export const banner = (stack: RunningStack, seconds: number, paymentLink: string | null = null): string => `
  Ready in ${seconds.toFixed(1)} s.

  API          ${stack.baseUrl}
  Docs         ${stack.baseUrl}/docs   (OpenAPI: ${stack.baseUrl}/openapi.json)
  Guide        ${stack.baseUrl}/docs/guide
  Dashboard    ${stack.baseUrl}${stack.signInPath}   (the link signs you in once; the next start makes a new one)
  API key      ${stack.apiKey}   (also in ${join(stack.dataDir, 'sandbox.json')})

${linkHint(paymentLink)}  Create an order:

${createOrderCommand(stack)}
${payHint(stack)}
  EventStoreDB ${withoutCredentials(stack.eventstoreUrl)}
  Kafka        ${stack.kafkaBrokers}
  PostgreSQL   ${withoutCredentials(stack.databaseUrl)}   (URL with password: DATABASE_URL in ${join(stack.dataDir, 'environment.json')})

  Press Ctrl-C to stop. The data stays in ${stack.dataDir}; "npm run reset" deletes it.
`;

const linkHint = (paymentLink: string | null): string =>
  paymentLink === null ? '' : `  Pay as a customer: ${paymentLink}\n\n`;

const payHint = ({ chainUrl }: RunningStack): string =>
  chainUrl
    ? `
  Pay it on the chain of this machine (${chainUrl}):   npm run pay -- ORDER_ID
`
    : '';

/** A shell command that creates the sample order. */
export const createOrderCommand = ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): string =>
  [
    `curl -sS -X POST '${baseUrl}/v1/orders' \\`,
    `  -H 'x-api-key: ${apiKey}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(SAMPLE_ORDER, null, 2).replace(/\n/g, '\n  ')}'`,
  ].join('\n');

const withoutCredentials = (address: string): string => address.replace(/^([a-z+]+:\/\/).*@/, '$1');

const TIMEOUT_MS = 5_000;

const Created = z.object({ deposit_instructions: z.array(z.object({ payment_url: z.string().optional() })) });

/** Resolves to the payment page of a new demo order, or null: the stack works without it. */
export const createPaymentLink = async ({
  baseUrl,
  apiKey,
}: {
  readonly baseUrl: string;
  readonly apiKey: string;
}): Promise<string | null> => {
  try {
    const response = await fetch(`${baseUrl}/v1/orders`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(DEMO_ORDER),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { deposit_instructions: instructions } = Created.parse(await response.json());
    return instructions.find(({ payment_url }) => payment_url !== undefined)?.payment_url ?? null;
  } catch {
    return null;
  }
};

// Each order uses one currency, so that it needs no exchange rate.

/** The order of the printed command. */
export const SAMPLE_ORDER: MerchantCreateOrderDto = {
  external_reference_id: 'demo-1',
  items: [{ name: 'Coffee', quantity: 2, unit_price: '3.50', currency: 'USDT' }],
  enable_rails: ['gateway_pay', 'crypto_deposit'],
  payment_currency: 'USDT',
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
};

/** The order behind the printed payment link. */
export const DEMO_ORDER: MerchantCreateOrderDto = {
  ...SAMPLE_ORDER,
  external_reference_id: 'payment-link',
  items: [
    {
      name: 'Coffee',
      quantity: 2,
      unit_price: '3.50',
      currency: 'USDC',
      modifiers: [{ name: 'Oat milk', quantity: 2, unit_price: '0.50', currency: 'USDC' }],
    },
    { name: 'Croissant', quantity: 1, unit_price: '2.80', currency: 'USDC' },
  ],
  payment_currency: 'USDC',
  expiration_minutes: 1440,
};
