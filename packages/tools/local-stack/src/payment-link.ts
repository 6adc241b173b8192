import { z } from 'zod';
import { DEMO_ORDER } from './sample-orders.ts';

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
