import { Amount, type DepositSettingsView, PaymentCurrency, withExample } from '@cpg/contracts';
import { z } from 'zod';

export const SettingsOwner = z.enum(['merchant', 'platform']);

export const DepositAccount = z.object({
  network: z.string().describe('The network, with its name in `deposit_instructions`.'),
  owner: SettingsOwner.describe('Whose account receives your deposits: your own, or that of the platform.'),
  fingerprint: z
    .string()
    .optional()
    .describe('The BIP 32 fingerprint of your extended public key. Absent if it is not yours.'),
  first_address: z
    .string()
    .optional()
    .describe('The address at path 0/0 of your key: your wallet shows the same. Absent if the key is not yours.'),
});

export const ConfirmationRule = z.object({
  asset: z.string().describe('The coin or token (CAIP-19).'),
  currency: PaymentCurrency.describe('Its currency.'),
  network: z.string().describe('Its network.'),
  from_amount: Amount.describe('The rule is for payments of at least this amount, up to the next rule.'),
  confirmations: z.int().describe('How many confirmations such a payment needs.'),
  owner: SettingsOwner.describe('Whether the rule is yours, or that of the platform.'),
});

export const RefundAddress = z.object({
  network: z.string().describe('The network.'),
  address: z.string().describe('An address from which you send refunds.'),
});

export const DepositSettings = withExample(
  z.object({
    accounts: z.array(DepositAccount).describe('Which account receives your deposits on each network.'),
    confirmations: z.array(ConfirmationRule).describe('The confirmations that payments need, by asset and amount.'),
    underpayment_tolerance_percent: z
      .number()
      .describe('How much may be missing of a new order, in percent, unless the order says otherwise.'),
    refund_addresses: z
      .array(RefundAddress)
      .describe('The addresses from which a transfer proves a refund with `settle: "on_chain"`.'),
  }),
  {
    accounts: [
      {
        network: 'bitcoin',
        owner: 'merchant',
        fingerprint: '73c5da0a',
        first_address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      },
      { network: 'base', owner: 'platform' },
    ],
    confirmations: [
      {
        asset: 'bip122:000000000019d6689c085ae165831e93/slip44:0',
        currency: 'BTC',
        network: 'bitcoin',
        from_amount: '0.00000000',
        confirmations: 2,
        owner: 'platform',
      },
    ],
    underpayment_tolerance_percent: 0,
    refund_addresses: [{ network: 'base', address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' }],
  },
);
export type DepositSettings = z.infer<typeof DepositSettings>;

export const getDepositSettings = {
  operationId: 'getDepositSettings',
  summary: 'Retrieve how your deposits are received',
  description:
    'Returns which accounts receive your deposits, how many confirmations they need, the tolerance of new orders, and the addresses of your refunds. The operator of the gateway changes them.',
  tags: ['Merchant'],
  response: { 200: DepositSettings },
};

/** The settings as a merchant sees them: without the account of the platform, whose addresses are other merchants'. */
export const depositSettingsOf = (view: DepositSettingsView): DepositSettings => ({
  accounts: view.accounts.map(({ network, owner, fingerprint, first_address }) => ({
    network,
    owner,
    ...(owner === 'merchant' && { fingerprint, first_address }),
  })),
  confirmations: view.confirmations.map(({ asset, currency, network, from, confirmations, owner }) => ({
    ...{ asset, currency: PaymentCurrency.parse(currency), network },
    ...{ from_amount: from, confirmations, owner },
  })),
  underpayment_tolerance_percent: view.underpayment_tolerance_percent,
  refund_addresses: view.refund_addresses,
});
