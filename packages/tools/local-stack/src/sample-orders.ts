import type { MerchantCreateOrderDto } from '@cpg/contracts';

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
