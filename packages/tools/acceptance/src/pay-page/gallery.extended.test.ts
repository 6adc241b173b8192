import type { Checkout } from '@cpg/contracts';
import { qrCodeOn, SCREENS, sidewaysOn, takeScreenshot, violationsOn, visit } from '../harness/browser.ts';
import { onPaymentPage, openSale, type Sale, SLOW, withBrowser } from './sale.ts';

type Changes = Parameters<typeof openSale>[1];

/** What a payer can meet on the page, and how an order gets there. */
export interface PageState {
  readonly name: string;
  /** Of the order. */
  readonly order?: Changes;
  readonly reach?: (sale: Sale) => Promise<unknown>;
  /** Whether the page shows it. */
  readonly shown: (checkout: Checkout) => boolean;
}

const EXPRESS: Changes = { capabilities: { express_checkout: true } };
const HOUR = 61;

const payments =
  (...states: string[]) =>
  (checkout: Checkout) =>
    checkout.payments.map(({ state }) => state).join() === states.join();

const payAndConfirm = async (sale: Sale, percent?: bigint) => {
  await sale.pay(percent);
  await sale.confirm();
};
const expire = async (sale: Sale) => {
  await sale.advance(HOUR);
  await sale.until(({ state }) => state === 'expired');
};

const STATES: readonly PageState[] = [
  { name: 'summary', shown: ({ state }) => state === 'waiting' },
  { name: 'waiting', order: EXPRESS, shown: ({ state }) => state === 'waiting' },
  {
    name: 'confirming',
    order: EXPRESS,
    reach: (sale) => sale.pay(),
    shown: ({ state, payments: [payment] }) => state === 'confirming' && payment?.confirmations === 1,
  },
  {
    name: 'partially-paid',
    order: EXPRESS,
    reach: (sale) => payAndConfirm(sale, 40n),
    shown: ({ state }) => state === 'partially_paid',
  },
  {
    name: 'held-part',
    order: { capabilities: { express_checkout: true, partial_payments: false } },
    reach: (sale) => payAndConfirm(sale, 40n),
    shown: payments('seen'),
  },
  {
    name: 'part-seen',
    order: EXPRESS,
    reach: (sale) => sale.pay(40n),
    shown: ({ state, applied }) => state === 'partially_paid' && Number(applied) === 0,
  },
  {
    name: 'wrong-currency',
    reach: (sale) =>
      sale.post('/debug/register-payment', {
        order_id: sale.order.id,
        payment_rail: 'gateway_pay',
        amount: '20',
        currency: 'USDT',
      }),
    shown: ({ state, payments: [payment] }) => state === 'waiting' && payment?.orphan_reason === 'wrong_currency',
  },
  {
    name: 'accepted-with-less',
    reach: async (sale) => {
      await payAndConfirm(sale, 40n);
      await sale.until(({ applied }) => Number(applied) > 0);
      await sale.post(`/v1/orders/${sale.order.id}/accept`, { reason: 'a regular guest' });
    },
    shown: ({ state, accepted_by_merchant, shortfall }) =>
      state === 'paid' && accepted_by_merchant && Number(shortfall) > 0,
  },
  { name: 'paid', reach: payAndConfirm, shown: ({ state }) => state === 'paid' },
  {
    name: 'paid-too-much',
    reach: (sale) => payAndConfirm(sale, 130n),
    shown: ({ state, due_back }) => state === 'paid' && Number(due_back) > 0,
  },
  {
    name: 'paid-too-much-kept',
    order: { capabilities: { can_overpay: true } },
    reach: (sale) => payAndConfirm(sale, 130n),
    shown: ({ state, surplus }) => state === 'paid' && Number(surplus) > 0,
  },
  {
    name: 'paid-twice',
    reach: async (sale) => {
      await payAndConfirm(sale);
      await sale.until(({ state }) => state === 'paid');
      await payAndConfirm(sale);
    },
    shown: payments('counted', 'not_counted'),
  },
  {
    name: 'renewed',
    order: { capabilities: { express_checkout: true, expiration_auto_renewal: true } },
    reach: (sale) => sale.advance(HOUR),
    shown: ({ state, price_updated_at }) => state === 'waiting' && price_updated_at !== undefined,
  },
  { name: 'expired', reach: expire, shown: ({ state }) => state === 'expired' },
  {
    name: 'late-money',
    reach: async (sale) => {
      await expire(sale);
      await payAndConfirm(sale);
    },
    shown: payments('late'),
  },
  {
    name: 'partially-paid-expired',
    reach: async (sale) => {
      await payAndConfirm(sale, 40n);
      await sale.until(({ state }) => state === 'partially_paid');
      await sale.advance(HOUR);
    },
    shown: ({ state }) => state === 'partially_paid_expired',
  },
  {
    name: 'canceled',
    reach: (sale) => sale.post(`/v1/orders/${sale.order.id}/cancel`),
    shown: ({ state }) => state === 'canceled',
  },
  {
    name: 'reversed',
    reach: async (sale) => {
      await payAndConfirm(sale);
      await sale.until(({ state }) => state === 'paid');
      await sale.fail();
    },
    shown: ({ state }) => state === 'reversed',
  },
  {
    name: 'returned',
    reach: async (sale) => {
      await payAndConfirm(sale);
      await sale.until(({ state }) => state === 'paid');
      await sale.refund();
    },
    shown: payments('returned'),
  },
];

onPaymentPage('each state of the payment page', () => {
  const stack = withBrowser();

  test.each(STATES.map((state) => [state.name, state] as const))(
    '%s: nothing fails, axe finds nothing, and its QR code is the address of the API',
    async (name, { order, reach, shown }) => {
      const sale = await openSale(stack.evm, order);
      await reach?.(sale);
      const { ways } = await sale.until(shown);
      for (const { shot, ...options } of SCREENS) {
        const { page, faults, close } = await visit(stack.browser, sale.url, options);
        await takeScreenshot(page, `${name}-${shot}`);
        const hasCode = (await page.locator('.qr').count()) > 0;
        const found = {
          faults,
          violations: await violationsOn(page),
          sideways: await sidewaysOn(page),
          code: hasCode && (await qrCodeOn(page)),
        };
        const code = hasCode && ways[0]!.address;
        expect({ shot, ...found }).toEqual({ shot, faults: [], violations: [], sideways: 0, code });
        await close();
      }
    },
    SLOW,
  );
});
