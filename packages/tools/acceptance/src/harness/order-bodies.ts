import type { Capabilities, Item, MerchantCreateOrderDto } from '@cpg/contracts';

const CAPABILITIES: Capabilities = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};

type Changes = Partial<Omit<MerchantCreateOrderDto, 'capabilities'>> & {
  capabilities?: Partial<Capabilities> | undefined;
};

/** An order of 10 USDT with partial payments and without overpaying. `changes` replaces fields. */
export const orderBody = ({ capabilities, ...changes }: Changes = {}): MerchantCreateOrderDto => ({
  external_reference_id: 'cart-1',
  items: [item('10', 'USDT')],
  enable_rails: ['gateway_pay', 'crypto_deposit'],
  payment_currency: 'USDT',
  ...changes,
  capabilities: { ...CAPABILITIES, ...capabilities },
});

export const item = (unitPrice: string, currency: Item['currency'], more: Partial<Item> = {}): Item => ({
  name: 'Coffee',
  quantity: 1,
  unit_price: unitPrice,
  currency,
  ...more,
});
