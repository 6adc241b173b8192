import { randomBytes } from 'node:crypto';
import type { LeasedReference, PaymentCurrency } from '@cpg/contracts';
import { base32nopad } from '@scure/base';
import type { OrderToPay, Rail } from './rail.ts';

/** A custodial provider whose users pay from their accounts. */
export interface ProviderAdapter {
  readonly name: string;
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Registers the order with the provider, if it has to know it. */
  readonly registerOrder: (order: OrderToPay) => Promise<{ reference: string; paymentUrl: string }>;
  /** A new reference for an order that the provider need not know. Absent if it has to register each order. A provider
   *  that has it supports every currency. */
  readonly newReference?: () => { reference: string; paymentUrl: string };
}

/** Payments through custodial providers: one payment page per order and provider. */
export const gatewayPay = (providers: readonly ProviderAdapter[]): Rail => {
  const supporting = (currency: PaymentCurrency) => providers.filter((provider) => provider.supports(currency));
  return {
    supports: (currency) => supporting(currency).length > 0,
    assignInstructions: async (order) => {
      const instructions = await Promise.all(
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
      );
      return { instructions, leaseMs: Infinity };
    },
  };
};

/** `count` references of each provider, none of which an order has. Null unless every provider can give them. */
export const leaseReferences =
  (providers: readonly ProviderAdapter[]) =>
  (count: number): Record<string, LeasedReference[]> | null => {
    const leased = providers.flatMap(({ name, newReference }) =>
      newReference ? [[name, Array.from({ length: count }, () => referenceOf(newReference()))] as const] : [],
    );
    const isComplete = providers.length > 0 && leased.length === providers.length;
    return isComplete ? Object.fromEntries(leased) : null;
  };

const referenceOf = ({ reference, paymentUrl }: { reference: string; paymentUrl: string }): LeasedReference => ({
  payment_reference: reference,
  payment_url: paymentUrl,
});

const REFERENCE_BYTES = 16;

/** The sandbox provider, whose payment page the gateway serves itself. A reference is 128 random bits: it belongs to
 *  the order that is recorded with it. */
export const sandboxProvider = ({ publicUrl }: { publicUrl: string }): ProviderAdapter => {
  const newReference = () => {
    const reference = base32nopad.encode(randomBytes(REFERENCE_BYTES));
    return { reference, paymentUrl: `${publicUrl}/pay/${reference}` };
  };
  return { name: 'sandbox', supports: () => true, newReference, registerOrder: async () => newReference() };
};
