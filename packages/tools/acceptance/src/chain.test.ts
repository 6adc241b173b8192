import { evmAssetOf, pay, PAYER } from '@cpg/local-chain';
import { type Desk, openDesk } from './chains/desk.ts';
import { rpcOf, LOCAL_NETWORK } from './harness/chains.ts';
import { admin } from './harness/merchants.ts';
import { sharedStack } from './harness/stack-files.ts';
import { payOrder } from './pay/pay-order.ts';
import { payRefund } from './pay/pay-refund.ts';

const stack = sharedStack();
const call = rpcOf(stack);
/** The stack runs no chain where npm has no binary for the platform. */
const onChain = call ? test : test.skip;
let desk: Desk;

beforeAll(async () => void (desk = await openDesk(stack, LOCAL_NETWORK)));
afterAll(() => desk.close());

onChain('money on the chain of the stack pays an order, and Kafka and the webhook tell it', async () => {
  const { order, deposit } = await desk.order();
  const paid = await pay(call!, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
  const payment = { status: 'applied', tx_hash: paid.transactionHash } as const;
  const { events } = await desk.hears(order.id, { status: 'paid', payments: [payment] });
  expect(events).toEqual(expect.arrayContaining(['payment:applied', 'order:paid']));
});

onChain(
  'npm run pay pays an order by its link, and sends the refund of its surplus from the declared wallet',
  async () => {
    const lines: string[] = [];
    const context = { api: desk.shop.api, call: call!, print: (line: string) => void lines.push(line) };
    const { order } = await desk.order({ enable_rails: ['crypto_deposit', 'gateway_pay'] });
    const more = { amount: '12.5', token: undefined, times: 1, reorg: null };
    const paid = await payOrder(context, { order: order.payment_url!, ...more });
    expect(paid).toMatchObject({ id: order.id, status: 'paid', due_back_amount: '2.500000' });
    expect(lines.at(-1)).toBe('order paid, 0.000000 remain, 2.500000 USDT to give back');

    const refundIt = () =>
      desk.shop.api.send('POST', `/v1/payments/${paid.payments[0]!.id}/refund`, { body: { settle: 'on_chain' } });
    expect(await refundIt()).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
    const declared = ['--network', LOCAL_NETWORK, '--address', PAYER];
    await admin(stack, ['refund-addresses', 'add', desk.shop.id, ...declared]);
    try {
      const { body } = await refundIt();
      const { refund_id: refundId } = body as unknown as { refund_id: string };
      const to = '0x52908400098527886E0F7030069857D2E4169EE7';
      const sent = await payRefund(context, { refundId, to });
      expect(sent).toMatchObject({ status: 'settled', amount: '2.500000', destination: to });
    } finally {
      await admin(stack, ['refund-addresses', 'remove', desk.shop.id, ...declared]);
    }
  },
);

onChain('npm run pay says what it was not given', async () => {
  const context = { api: desk.shop.api, call: call!, print: () => {} };
  const options = { amount: undefined, token: undefined, times: 1, reorg: null };
  await expect(payOrder(context, { order: 'no-such-cart', ...options })).rejects.toThrow(
    'name the id of an order, your reference of it, or the link of its payment page',
  );
  const unknown = { refundId: 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M', to: undefined };
  await expect(payRefund(context, unknown)).rejects.toThrow(`there is no refund ${unknown.refundId}`);
});
