import fc from 'fast-check';
import { nextStep, type Sale } from './sale.ts';

const usd = (minor: bigint) => ({ minor, currency: 'USD' as const });
const CART: Sale = {
  cartId: 'cart_1',
  total: usd(1550n),
  session: { id: 'payses_1', isCaptured: false },
  isPaidOtherwise: false,
};
const ORDERED: Sale = { ...CART, orderId: 'order_1' };
const PAID: Sale = { ...ORDERED, session: { id: 'payses_1', paymentId: 'pay_1', isCaptured: false } };
const CAPTURED: Sale = { ...ORDERED, session: { id: 'payses_1', paymentId: 'pay_1', isCaptured: true } };

test.each<[string, Sale | undefined, object]>([
  ['completes a cart', CART, { do: 'complete', cartId: 'cart_1' }],
  ['removes what a dead completion left', ORDERED, { do: 'remove', orderId: 'order_1', cartId: 'cart_1' }],
  ['captures the payment of an order', PAID, { do: 'capture', paymentId: 'pay_1' }],
  ['does nothing afterwards', CAPTURED, { do: 'nothing' }],
  ['gives a cart of the same price its session again', { ...CART, session: undefined }, { do: 'attach' }],
  ['tells that there is no cart', undefined, { do: 'tell', text: expect.stringContaining('no cart') }],
  [
    'tells that the cart costs more now',
    { ...CART, total: usd(2600n) },
    {
      do: 'tell',
      text: '15.50 USD was paid for a cart that changed meanwhile: it costs 26.00 USD now. Pay it back, or make the order by hand.',
    },
  ],
  [
    'tells that the cart was paid otherwise',
    { ...ORDERED, session: undefined },
    { do: 'tell', text: expect.stringContaining('already paid in another way') },
  ],
  [
    'tells that another session has the payment',
    { ...CART, isPaidOtherwise: true },
    { do: 'tell', text: expect.stringContaining('already paid in another way') },
  ],
])('%s', (_, sale, step) => expect(nextStep(usd(1550n), sale)).toEqual(step));

/** What Medusa has after a step. */
const after = (sale: Sale, paid: Sale['total']): Sale | undefined => {
  const step = nextStep(paid, sale);
  const session = sale.session ?? { id: 'payses_2', isCaptured: false };
  switch (step.do) {
    case 'attach':
      return { ...sale, session };
    case 'complete':
      return { ...sale, orderId: 'order_1', session: { ...session, paymentId: 'pay_1' } };
    case 'remove':
      return { ...sale, orderId: undefined };
    case 'capture':
      return { ...sale, session: { ...session, isCaptured: true } };
    default:
      return undefined;
  }
};

test('ends with a captured order of exactly the price, or with people, from every state', () => {
  const minor = fc.constantFrom(1550n, 2600n);
  const sales = fc.record({
    cartId: fc.constantFrom('cart_1', undefined),
    orderId: fc.constantFrom('order_1', undefined),
    total: minor.map(usd),
    session: fc.constantFrom(undefined, CART.session),
    isPaidOtherwise: fc.boolean(),
  });
  fc.assert(
    fc.property(sales, minor.map(usd), (first, paid) => {
      let sale: Sale = first;
      for (let count = 0; count < 6; count += 1) {
        const next = after(sale, paid);
        if (!next) break;
        sale = next;
      }
      const end = nextStep(paid, sale);
      expect(['nothing', 'tell']).toContain(end.do);
      if (end.do === 'nothing') {
        expect(sale.total).toEqual(paid);
        expect(sale.orderId).toBe('order_1');
      }
    }),
  );
});
