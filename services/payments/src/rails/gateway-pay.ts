import { randomBytes } from 'node:crypto';
import type { PaymentCurrency } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { base32nopad } from '@scure/base';
import type { OrderToPay, Rail } from './rail.ts';

/** A custodial network that payers have accounts with. */
export interface ProviderAdapter {
  readonly name: string;
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Opens the order at the provider. Idempotent by order id; durable once it resolves. */
  readonly create: (order: OrderToPay) => Promise<{ reference: string; paymentUrl: string }>;
}

export const gatewayPay = (providers: readonly ProviderAdapter[]): Rail => {
  const taking = (currency: PaymentCurrency) => providers.filter((provider) => provider.supports(currency));
  return {
    rail: 'gateway_pay',
    supports: (currency) => taking(currency).length > 0,
    open: (order) =>
      Promise.all(
        taking(order.currency).map(async (provider) => {
          const { reference, paymentUrl } = await provider.create(order);
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

/** The provider of the sandbox: its payers come to our own payment page. A reference is 128 random bits, of one order only. */
export const sandboxProvider = ({ pool, publicUrl }: { pool: Pool; publicUrl: string }): ProviderAdapter => {
  const name = 'sandbox';
  return {
    name,
    supports: () => true,
    create: async ({ orderId }) => {
      // An update that changes nothing returns the row that was there.
      const { rows } = await pool.query<{ reference: string }>({
        name: 'assign-reference',
        text: `insert into payments.payment_references as held (order_id, provider, reference) values ($1, $2, $3)
               on conflict (order_id, provider) do update set reference = held.reference
               returning reference`,
        values: [orderId, name, base32nopad.encode(randomBytes(REFERENCE_BYTES))],
      });
      const { reference } = rows[0]!;
      return { reference, paymentUrl: `${publicUrl}/pay/${reference}` };
    },
  };
};
