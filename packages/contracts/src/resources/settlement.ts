import { z } from 'zod';
import { ItemCurrency, PaymentCurrency } from '../currencies.ts';
import { withExample } from '../example.ts';
import { EXAMPLE_IDS, OwnerId, PaymentId, RefundId, Timestamp } from '../ids.ts';
import { SignedAmount } from '../money.ts';

/** The accounts of the ledger of a merchant. */
export const LedgerAccount = z.enum(['payer', 'received', 'net', 'fee', 'surplus', 'orphan', 'refunded', 'returned']);
export type LedgerAccount = z.infer<typeof LedgerAccount>;

const ACCOUNTS: Readonly<Record<LedgerAccount, string>> = {
  payer: 'The world outside: what payers sent, with a minus.',
  received: 'What waits for the decision of its order.',
  net: 'Your part of what counts for orders.',
  fee: 'The part that you owe your operator as a fee. A refund leaves it.',
  surplus: 'What an order does not need: due back, if it can be paid.',
  orphan: 'What counts for no order: due back.',
  refunded: 'What went back to payers.',
  returned: 'What its chain or provider took back.',
};

const ACCOUNTS_IN_WORDS = LedgerAccount.options.map((account) => `\`${account}\`: ${ACCOUNTS[account]}`).join(' ');

/** One line of the settlement report. */
export const SettlementLine = withExample(
  z.object({
    id: z.string().describe('The line: the payment, the number of the entry, and the number of the line in it.'),
    entry: z.string().describe('The entry. The amounts of its lines add up to zero.'),
    merchant_id: OwnerId,
    booked_at: Timestamp.describe('When it happened: ISO 8601, UTC, milliseconds. Lines are sorted by it.'),
    event: z.string().describe('The event that moved the money, by its name on Kafka. More values may come.'),
    account: LedgerAccount.describe(`The account. ${ACCOUNTS_IN_WORDS}`),
    amount: SignedAmount.describe('What enters the account; with a minus, what leaves it.'),
    currency: PaymentCurrency.describe('The currency of `amount`.'),
    payment_id: PaymentId.describe('The payment.'),
    order_id: z.string().describe('The order of the payment, as the payment named it then.'),
    external_reference_id: z.string().optional().describe('How you know the order. Absent if there is no such order.'),
    refund_id: RefundId.optional().describe('The refund, if it is one.'),
    tx_hash: z
      .string()
      .optional()
      .describe('The transaction that paid; of a refund, the one that paid back, if it is known.'),
    item_amount: SignedAmount.optional().describe(
      'What `amount` was worth at the sale, in the currency of the items, at the locked rate of the order, rounded half to even. Absent if the order has items in several currencies, or was priced anew since the payment.',
    ),
    item_currency: ItemCurrency.optional().describe('The currency of `item_amount`.'),
    rate: z
      .string()
      .optional()
      .describe('The locked rate: how many units of `currency` one `item_currency` was worth.'),
  }),
  {
    id: `${EXAMPLE_IDS.payment}_000002_02`,
    entry: `${EXAMPLE_IDS.payment}_000002`,
    merchant_id: EXAMPLE_IDS.merchant,
    booked_at: '2026-01-31T12:04:34.000Z',
    event: 'payment.applied',
    account: 'net',
    amount: '10.395000',
    currency: 'USDC',
    payment_id: EXAMPLE_IDS.payment,
    order_id: EXAMPLE_IDS.order,
    external_reference_id: 'table-7-2026-01-31',
    tx_hash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
    item_amount: '207.90',
    item_currency: 'MXN',
    rate: '0.05',
  },
);
export type SettlementLine = z.infer<typeof SettlementLine>;

export const AccountBalances = z.object(
  Object.fromEntries(
    LedgerAccount.options.map((account) => [account, SignedAmount.describe(ACCOUNTS[account])]),
  ) as Record<LedgerAccount, typeof SignedAmount>,
);

export const CurrencyBalances = z.object({
  currency: PaymentCurrency.describe('The currency.'),
  accounts: AccountBalances.describe('The balance of each account. They add up to zero.'),
});

/** The balances of the ledger of a merchant. */
export const Balances = withExample(
  z.object({
    at: Timestamp.describe('The time of the balances: they are the sums of the lines that were booked before it.'),
    currencies: z.array(CurrencyBalances).describe('One for each currency with a line before that time.'),
  }),
  {
    at: '2026-02-01T06:00:00.000Z',
    currencies: [
      {
        currency: 'USDC',
        accounts: {
          payer: '-120.500000',
          received: '0.000000',
          net: '103.895000',
          fee: '1.105000',
          surplus: '0.500000',
          orphan: '5.000000',
          refunded: '10.000000',
          returned: '0.000000',
        },
      },
    ],
  },
);
export type Balances = z.infer<typeof Balances>;
