import type { Currencies, ItemCurrency, MerchantCreateOrderDto, PaymentCurrency, Rail } from '@cpg/sdk';
import { isAmount } from './amounts.ts';

interface ItemFields {
  readonly name: string;
  readonly quantity: string;
  readonly unit_price: string;
}

export interface OrderFields {
  readonly reference: string;
  readonly items: readonly ItemFields[];
  readonly priceCurrency: string;
  readonly payCurrency: string;
  readonly rails: readonly string[];
  readonly minutes: string;
  readonly isPartial: boolean;
}

/** The request for an order that somebody entered by hand. */
export const orderRequest = (fields: OrderFields): MerchantCreateOrderDto => ({
  external_reference_id: fields.reference.trim(),
  items: fields.items.map((item) => ({
    name: item.name.trim(),
    quantity: Number(item.quantity),
    unit_price: item.unit_price.trim(),
    currency: fields.priceCurrency as ItemCurrency,
  })),
  enable_rails: fields.rails as Rail[],
  payment_currency: fields.payCurrency as PaymentCurrency,
  expiration_minutes: Number(fields.minutes),
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: fields.isPartial,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
});

/** A fault by the field that has it: `required`, `amount` or `rail`. */
export const faultsOf = (fields: OrderFields): Record<string, Fault> =>
  Object.fromEntries([...ownFaults(fields), ...fields.items.flatMap(itemFaults)]);

type Fault = 'required' | 'amount' | 'rail';

const ownFaults = ({ reference, rails, minutes }: OrderFields): [string, Fault][] => [
  ...(reference.trim() === '' ? [['reference', 'required'] as [string, Fault]] : []),
  ...(rails.length === 0 ? [['rails', 'rail'] as [string, Fault]] : []),
  ...(/^[1-9]\d*$/.test(minutes) ? [] : [['minutes', 'required'] as [string, Fault]]),
];

const itemFaults = ({ name, unit_price, quantity }: ItemFields, index: number): [string, Fault][] => [
  ...(name.trim() === '' ? [[`items.${index}.name`, 'required'] as [string, Fault]] : []),
  ...(isAmount(unit_price.trim()) ? [] : [[`items.${index}.unit_price`, 'amount'] as [string, Fault]]),
  ...(Number(quantity) > 0 ? [] : [[`items.${index}.quantity`, 'amount'] as [string, Fault]]),
];

/** The rails on which orders can be paid in a currency now. */
export const railsOf = (currencies: Currencies, payCurrency: string): { rail: string; isAvailable: boolean }[] =>
  (currencies.payment_currencies.find(({ currency }) => currency === payCurrency)?.rails ?? []).map(
    ({ rail, is_available }) => ({ rail, isAvailable: is_available }),
  );
