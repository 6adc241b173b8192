import { parsePayOptions } from './options.ts';

const REFUND = 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M';
const ADDRESS = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';

test('an order is paid, and a refund is sent', () => {
  expect(parsePayOptions(['cart-1', '--token', 'usdc', '--reorg', '--lost'])).toEqual({
    order: 'cart-1',
    amount: undefined,
    token: 'USDC',
    times: 1,
    reorg: 'lost',
  });
  expect(parsePayOptions([REFUND, '--to', ADDRESS])).toEqual({ refundId: REFUND, to: ADDRESS });
  expect(parsePayOptions([REFUND])).toEqual({ refundId: REFUND, to: undefined });
  expect(parsePayOptions(['--help'])).toBeNull();
});

test.each([
  [[], 'name one order or refund'],
  [['cart-1', 'cart-2'], 'name one order or refund'],
  [['cart-1', '--foo'], '--help shows the options'],
  [['cart-1', '--amount', '1,5'], '--amount must be a decimal number such as 5.45'],
  [['cart-1', '--times', '0'], '--times must be a number from 1 to 100'],
  [['cart-1', '--lost'], '--lost needs --reorg'],
  [['cart-1', '--to', ADDRESS], '--to is for refunds'],
  [[REFUND, '--amount', '1'], '--amount is for orders'],
  [[REFUND, '--reorg'], '--reorg is for orders'],
])('%j is refused: %s', (args, message) => expect(() => parsePayOptions(args)).toThrow(message));
