import { randomBytes } from 'node:crypto';
import type { PaymentCurrency } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { base32nopad } from '@scure/base';
import type { OrderToPay, Rail } from './rail.ts';

/** A custodial provider whose users pay from their accounts. */
export interface ProviderAdapter {
  readonly name: string;
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Registers the order with the provider. Idempotent by order id; durable once it resolves. */
  readonly registerOrder: (order: OrderToPay) => Promise<{ reference: string; paymentUrl: string }>;
}

/** Payments through custodial providers: one payment page per order and provider. */
export const gatewayPay = (providers: readonly ProviderAdapter[]): Rail => {
  const supporting = (currency: PaymentCurrency) => providers.filter((provider) => provider.supports(currency));
  return {
    supports: (currency) => supporting(currency).length > 0,
    assignInstructions: (order) =>
      Promise.all(
        supporting(order.currency).map(async (provider) => {
          const { reference, paymentUrl } = await provider.registerOrder(order);
          return {
            rail: 'gateway_pay' as const,
            currency: order.currency,
            provider: provider.name,
            paymentReference: reference,
            paymentUrl,
          };
        }),
      ),
  };
};

const REFERENCE_BYTES = 16;

/** The sandbox provider, whose payment page the gateway serves itself. A reference is 128 random bits and belongs to
 *  one order. */
export const sandboxProvider = ({ pool, publicUrl }: { pool: Pool; publicUrl: string }): ProviderAdapter => {
  const name = 'sandbox';
  return {
    name,
    supports: () => true,
    registerOrder: async ({ orderId }) => {
      // On a conflict the update changes nothing, but returns the existing row.
      const { rows } = await pool.query<{ reference: string }>({
        name: 'assign-reference',
        text: `insert into payments.payment_references as existing (order_id, provider, reference) values ($1, $2, $3)
               on conflict (order_id, provider) do update set reference = existing.reference
               returning reference`,
        values: [orderId, name, base32nopad.encode(randomBytes(REFERENCE_BYTES))],
      });
      const { reference } = rows[0]!;
      return { reference, paymentUrl: `${publicUrl}/pay/${reference}` };
    },
  };
};
