import type { PaymentCurrency, Refund, RefundRequest } from '@cpg/contracts';
import { admin } from '../harness/merchants.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';
import type { Deposit, Desk } from './desk.ts';

/** A chain on which a merchant refunds payments from a wallet of its own. */
export interface RefundChain {
  readonly stack: StackFiles;
  readonly desk: Desk;
  readonly network: string;
  /** The address from which `transfer` sends. */
  readonly wallet: string;
  /** An address of the payer. */
  readonly destination: string;
  /** Sends units to the address of a deposit. */
  readonly pay: (deposit: Deposit, units: bigint) => Promise<unknown>;
  /** Gives all that was sent the confirmations that it needs. */
  readonly confirm: () => Promise<unknown>;
  /** Sends what the request asks for, as a wallet does. `isMined` if a block contains the transaction at once. */
  readonly transfer: (request: RefundRequest) => Promise<{ readonly txHash: string; readonly isMined: boolean }>;
}

/** Pays an order in full, and refunds it by a transfer that the chain proves. */
export const testRefund = async (
  { desk, stack, network, wallet, destination, pay, confirm, transfer }: RefundChain,
  currency: PaymentCurrency,
): Promise<void> => {
  const post = async <T>(path: string, body: object, expected: number): Promise<T> => {
    const { status, body: answer } = await desk.shop.api.send('POST', path, { body });
    expect({ path, status, answer }).toMatchObject({ status: expected });
    return answer as T;
  };
  const untilRefund = (id: string, status: Refund['status']): Promise<Refund> =>
    until(`the refund is ${status}`, async () => {
      const { body } = await desk.shop.api.send('GET', `/v1/refunds/${id}`);
      const refund = body as unknown as Refund;
      return refund.status === status && refund;
    });

  const { order, deposit } = await desk.order({ payment_currency: currency });
  await pay(deposit, BigInt(deposit.amount_units));
  await confirm();
  const { payments } = await desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
  await admin(stack, ['refund-addresses', 'add', desk.shop.id, '--network', network, '--address', wallet]);

  await post(`/v1/payments/${payments[0]!.id}/refund`, { settle: 'on_chain', what: 'all' }, 201);
  const { body } = await desk.shop.api.send('GET', `/v1/refunds?payment_id=${payments[0]!.id}`);
  const { id } = (body as unknown as { items: Refund[] }).items[0]!;
  const request = await post<RefundRequest>(`/v1/refunds/${id}/request`, { destination }, 200);
  expect(request).toMatchObject({ refund: { status: 'pending', destination }, senders: [wallet] });

  const { txHash, isMined } = await transfer(request);
  if (isMined) expect(await untilRefund(id, 'sent')).toMatchObject({ tx_hash: txHash });
  await confirm();
  expect(await untilRefund(id, 'settled')).toMatchObject({ tx_hash: txHash, network });
  const { events } = await desk.hears(order.id, { status: 'reversed', payments: [{ status: 'refunded' }] });
  expect(events).toContain('payment:refunded');
};
