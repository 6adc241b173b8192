import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Order, WebhookEventType } from '@cpg/contracts';
import { bitcoinNodeAdvice, foundBitcoinNode, payOnBitcoin } from './demo/on-bitcoin.ts';
import { checkLives, checkRotationAndReplay } from './demo/life-of-an-order.ts';
import { buyAll } from './demo/purchases.ts';
import { checkHistory, checkLists, checkPublishedEvents, checkStreams } from './demo/read-back.ts';
import { createReport, type Report } from './demo/report.ts';
import { type Api, createApi } from './harness/api.ts';
import { rpcOf } from './harness/chains.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { runningStack, type StackFiles } from './harness/stack-files.ts';
import { payOrder } from './pay/pay-order.ts';

/** The host of a URL, without credentials. */
const hostOf = (address: string): string => new URL(address).host;

/** Creates, pays and reads back orders, and prints each step with its checks. */
const demo = async (stack: StackFiles, report: Report): Promise<void> => {
  const api = createApi(stack);
  const receiver = await startReceiver();
  try {
    await checkAll(stack, api, receiver, report);
  } finally {
    await Promise.all([api.close(), receiver.close()]);
  }
};

const checkAll = async (stack: StackFiles, api: Api, receiver: Receiver, report: Report): Promise<void> => {
  const path = `/demo-${randomUUID()}`;
  const since = new Date().toISOString();

  report.section('A webhook with an endpoint of this demo');
  const {
    id: webhookId,
    secret,
    is_enabled,
  } = await api.createWebhook({
    url: receiver.urlOf(path),
    events: [...WebhookEventType.options],
  });
  try {
    report.equal(`${webhookId} starts disabled`, is_enabled, false);
    await api.updateWebhook(webhookId, { is_enabled: true });

    report.section(`Orders, created and paid at ${stack.baseUrl}`);
    const bought = await buyAll(api, report, `demo-${randomUUID().slice(0, 8)}`);

    report.section('The lists of orders and payments');
    await checkLists(api, report, bought, since);

    report.section('The history of the first order');
    await checkHistory(api, report, bought);

    report.section(`The streams in EventStoreDB at ${hostOf(stack.eventstoreUrl)}`);
    await checkStreams(stack, report, bought);

    report.section(`The events on Kafka at ${stack.kafkaBrokers}, and the webhooks`);
    await checkPublishedEvents({ stack, receiver, path, secret }, report, bought);

    report.section('Repeats, refunds, cancels, captures, deadlines, renewals, deletions, and the payment page');
    await checkLives(api, report, `demo-${randomUUID().slice(0, 8)}`);

    report.section('A new secret of the webhook, and a replay');
    await checkRotationAndReplay(api, { receiver, path, webhookId, secret }, report, since);

    report.section('An order paid on the chain of this machine, and a reorganization');
    await payOnChain(stack, api, report, `demo-${randomUUID().slice(0, 8)}`);
  } finally {
    await api.deleteWebhook(webhookId);
  }
};

/** Pays an order on the chain of the stack, and reorganizes the chain under the payment. */
const payOnChain = async (stack: StackFiles, api: Api, report: Report, reference: string): Promise<void> => {
  const call = rpcOf(stack);
  if (!call) return report.line('skipped: the stack runs no chain');
  const order = await api.createOrder(
    orderBody({ external_reference_id: reference, payment_currency: 'USDC', metadata: { demo: true } }),
  );
  report.line(`${order.id}  ${order.total_amount} USDC, paid on chain before a reorganization`);
  const options = { order: order.id, amount: undefined, token: undefined, times: 1, reorg: 'again' } as const;
  const paid = await payOrder({ api, call, print: (text) => report.line(text) }, options);
  report.equal('the payment pays the order, and survives', stateOf(paid), ['paid', ['applied']]);
};

const stateOf = ({ status, payments }: Order) => [status, payments.map((payment) => payment.status)];

const TRY_A_SHOP = `
To sell in a shop: packages/shops/medusa/README.md leads in five minutes to a paid order in Medusa.
"npm run test:shops" installs Medusa and Vendure, and sells in them.`;

/** Resolves with whether there was anything to show it on. */
const run = async (report: Report): Promise<boolean> => {
  const { values } = parseArgs({ options: { bitcoin: { type: 'boolean', default: false } } });
  if (values.bitcoin) {
    const node = foundBitcoinNode();
    if (node) await payOnBitcoin(node, report);
    else console.error(bitcoinNodeAdvice());
    return node !== null;
  }
  const stack = await runningStack();
  if (stack) await demo(stack, report);
  return stack !== null;
};

try {
  const report = createReport((line) => console.log(line));
  const wasShown = await run(report);
  const { passed, failed } = report.checks();
  if (wasShown && failed === 0) console.log(TRY_A_SHOP);
  if (wasShown) console.log(`\n${passed} checks passed, ${failed} failed`);
  process.exitCode = wasShown && failed === 0 ? 0 : 1;
} catch (error) {
  console.error(`\nthe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
