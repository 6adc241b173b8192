import type { MerchantCreateOrderDto } from '@cpg/contracts';
import { z } from 'zod';

/** The order behind the printed payment link. It uses one currency, so it needs no exchange rate. */
export const DEMO_ORDER: MerchantCreateOrderDto = {
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
  enable_rails: ['gateway_pay', 'crypto_deposit'],
  payment_currency: 'USDC',
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  expiration_minutes: 1440,
};

const TIMEOUT_MS = 5_000;

const Created = z.object({ deposit_instructions: z.array(z.object({ payment_url: z.string().optional() })) });

/** Creates the demo order and resolves to the page on which it is paid; null if that fails: the stack is ready all the
 *  same. */
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
