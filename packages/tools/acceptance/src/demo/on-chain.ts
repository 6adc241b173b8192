import type { Order } from '@cpg/contracts';
import type { Api } from '../harness/api.ts';
import { chainOf } from '../harness/local-chain.ts';
import { orderBody } from '../harness/order-bodies.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { payOrder } from '../pay/pay-order.ts';
import type { Report } from './report.ts';

/** Pays an order on the chain of the stack, and reorganizes the chain under the payment. */
export const payOnChain = async (stack: StackFiles, api: Api, report: Report, reference: string): Promise<void> => {
  const call = chainOf(stack);
  if (!call) return report.line('skipped: the stack runs no chain');
  const order = await api.createOrder(
    orderBody({ external_reference_id: reference, payment_currency: 'USDC', metadata: { demo: true } }),
  );
  report.line(`${order.id}  ${order.total_amount} USDC, paid on chain before a reorganization`);
  const options = { orderId: order.id, amount: undefined, token: undefined, times: 1, reorg: 'again' } as const;
  const paid = await payOrder({ api, call, print: (text) => report.line(text) }, options);
  report.equal('the payment pays the order, and survives', stateOf(paid), ['paid', ['applied']]);
};

const stateOf = ({ status, payments }: Order) => [status, payments.map((payment) => payment.status)];
