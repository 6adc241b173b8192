import { type DomainMessage, exampleMessage, fromMinor } from '@cpg/contracts';
import type { PaymentCommand } from './payment/command.ts';
import { type BothServices, startBothServices } from './testing/jest-both-services.ts';

// The examples of messages are in the published documents, and test deliveries of webhooks carry their resources. Both
// services publish exactly these messages in the histories below, so no example shows a resource that cannot exist.
// `order.deleted` is not among them: it has no resource.

const { change: created } = exampleMessage('order.created').data;
const { change: received } = exampleMessage('payment.received').data;
const { change: moved } = exampleMessage('payment.block_changed').data;
const { change: refunded } = exampleMessage('payment.refunded').data;
const { change: assigned } = exampleMessage('payment.assigned').data;
const { orderId, merchantId } = created;
const [CREATED, SEEN, PAID] = [created.at, received.at, exampleMessage('payment.applied').time];

let both: BothServices;
beforeAll(() => void (both = startBothServices({ instruction: created.instructions![0]! })));
afterAll(() => both.stop());
beforeEach(() => both.reset(false));

const succeed = async (answer: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await answer;
  expect([status < 300, body]).toEqual([true, body]);
};

const create = (capabilities: object = {}) => {
  both.stopClockAt(CREATED);
  both.setPrice(created.rates.MXN!.rate);
  const order = {
    external_reference_id: created.externalReferenceId,
    items: created.items,
    enable_rails: created.rails,
    payment_currency: created.currency,
    capabilities: { ...created.capabilities, ...capabilities },
    expiration_minutes: created.expirationMinutes,
    return_url: created.returnUrl,
    cancel_url: created.cancelUrl,
  };
  return succeed(both.orders('POST', '/orders', { order_id: orderId, merchant_id: merchantId, order }));
};

const report = (more: object = {}, at = SEEN) => {
  both.stopClockAt(at);
  const { providerId, rail, currency, decimals, asset, amountMinor, txHash, block, confirmations, seenAt } = received;
  const amount = fromMinor(BigInt(amountMinor), decimals);
  const money = { rail, provider_id: providerId, amount, currency, asset, tx_hash: txHash, seen_at: seenAt };
  const body = { order_id: orderId, ...money, block, confirmations, confirmed: false, ...more };
  return succeed(both.payments('POST', '/payments', body));
};

const orderCall = (method: 'POST' | 'PATCH', path: string, at: string, more: object = {}) => {
  both.stopClockAt(at);
  return succeed(both.orders(method, `/orders/${orderId}${path}`, { merchant_id: merchantId, ...more }));
};

const paymentCall = (path: string, at: string, body: object) => {
  both.stopClockAt(at);
  return succeed(both.payments('POST', `/payments/${received.paymentId}/${path}`, body));
};

const pay = async () => {
  await create();
  await report();
  await paymentCall('confirmation', PAID, { confirmations: 20 });
};

const fail = async () => {
  await create();
  await report();
  const { failureReason } = exampleMessage('payment.failed').data.change;
  await paymentCall('failure', PAID, { failure_reason: failureReason });
};

const refund = async () => {
  await pay();
  const { refundId, reason, at, txHash: tx_hash, network, destination } = refunded;
  const how = { tx_hash, network, destination };
  await paymentCall('refunds', at, { merchant_id: merchantId, refund_id: refundId, what: 'all', reason, ...how });
};

const refundOrder = async () => {
  await pay();
  const { orderRefundId, requestedAmount, requestedCurrency, reason, at } =
    exampleMessage('order.refunded').data.change;
  const money = { amount: requestedAmount, currency: requestedCurrency };
  await orderCall('POST', '/refund', at, { order_refund_id: orderRefundId, ...money, reason });
};

const mineAgain = async () => {
  await create();
  await report();
  await report({ block: moved.block, confirmations: moved.confirmations }, moved.at);
};

const seeAgain = async () => {
  await fail();
  const { change } = exampleMessage('payment.reinstated').data;
  await report({ block: change.block, confirmations: change.confirmations }, change.at);
};

const cancel = async () => {
  await create();
  await orderCall('POST', '/cancel', PAID);
};

const accept = async () => {
  await create();
  const { resource, change } = exampleMessage('order.accepted').data;
  await report({ amount: resource.payments[0]!.paid_amount });
  await paymentCall('confirmation', PAID, { confirmations: 20 });
  await orderCall('POST', '/accept', change.at, { reason: change.acceptedBecause });
};

const payCanceled = async () => {
  await create();
  await report();
  await orderCall('POST', '/cancel', PAID);
  await paymentCall('confirmation', exampleMessage('payment.orphaned').time, { confirmations: 20 });
};

const passDeadline = async (capabilities: object = {}) => {
  await create(capabilities);
  both.stopClockAt(created.expiresAt);
  await both.watch(orderId);
};

const instructLater = async () => {
  both.setFates(['request timed out']);
  await create();
  both.stopClockAt(exampleMessage('order.instructed').time);
  await both.watch(orderId);
};

const assign = async () => {
  await create();
  await report({ order_id: `ord_${'0'.repeat(26)}`, confirmed: true, confirmations: 20 });
  both.stopClockAt(assigned.at);
  const { order, reason, by } = assigned;
  await both.operator(received.paymentId, {
    type: 'AssignPayment',
    merchantId,
    orderId,
    order,
    reason,
    by,
    at: both.now(),
  });
};

const refunds = {
  request: exampleMessage('payment.refund_requested').data.change,
  address: exampleMessage('payment.refund_addressed').data.change,
  report: exampleMessage('payment.refund_sent').data.change,
  issue: exampleMessage('payment.refund_claim_issued').data.change,
  claim: exampleMessage('payment.refund_claimed').data.change,
};

const operate = (command: PaymentCommand) => {
  both.stopClockAt(refunds.request.at);
  return both.operator(received.paymentId, command);
};

const requestRefund = async () => {
  await pay();
  const { amountMinor, at, ...data } = refunds.request;
  await operate({ type: 'RequestRefund', ...data, amountMinor: BigInt(amountMinor), at: new Date(at) });
};

const sendRefund = async () => {
  await requestRefund();
  await operate({ type: 'AddressRefund', ...refunds.address, at: new Date(refunds.address.at) });
  await operate({ type: 'ReportRefund', ...refunds.report, isFinal: false, at: new Date(refunds.report.at) });
};

const claimRefund = async () => {
  await requestRefund();
  const { tokenHash, expiresAt } = refunds.issue;
  const { refundId, destination, senders, afterHeight } = refunds.claim;
  const at = new Date(refunds.claim.at);
  await operate({ type: 'IssueRefundClaim', ...refunds.issue, expiresAt: new Date(expiresAt), at });
  await operate({ type: 'ClaimRefund', refundId, tokenHash, destination, senders, afterHeight, endsBy: at, at });
};

const endRefund = async (type: 'ReopenRefund' | 'CancelRefund', begin: () => Promise<unknown>) => {
  await begin();
  const { refundId, transferId, at } = refunds.report;
  await operate({ type, refundId, transferId, at: new Date(at) });
};

const HISTORIES: Record<Exclude<DomainMessage['type'], 'order.deleted'>, () => Promise<unknown>> = {
  'order.created': create,
  'order.instructed': instructLater,
  'order.payment_received': pay,
  'order.payment_confirmed': pay,
  'order.payment_block_changed': mineAgain,
  'order.payments_applied': pay,
  'order.payments_orphaned': payCanceled,
  'order.payment_failed': fail,
  'order.payment_reinstated': seeAgain,
  'order.payment_refunded': refund,
  'order.accepted': accept,
  'order.paid': pay,
  'order.updated': async () => {
    await create();
    const { metadata } = exampleMessage('order.updated').data.change;
    await orderCall('PATCH', '', PAID, { changes: { metadata } });
  },
  'order.renewed': () => passDeadline({ expiration_auto_renewal: true }),
  'order.time_advanced': async () => {
    await create();
    await orderCall('POST', '/time', PAID, { minutes: exampleMessage('order.time_advanced').data.change.minutes });
  },
  'order.expired': passDeadline,
  'order.canceled': cancel,
  'order.refunded': refundOrder,
  'payment.received': pay,
  'payment.confirmed': pay,
  'payment.block_changed': mineAgain,
  'payment.applied': pay,
  'payment.orphaned': payCanceled,
  'payment.failed': fail,
  'payment.reinstated': seeAgain,
  'payment.refunded': refund,
  'payment.assigned': assign,
  'payment.refund_requested': requestRefund,
  'payment.refund_addressed': sendRefund,
  'payment.refund_sent': sendRefund,
  'payment.refund_reopened': () => endRefund('ReopenRefund', sendRefund),
  'payment.refund_claim_issued': claimRefund,
  'payment.refund_claimed': claimRefund,
  'payment.refund_canceled': () => endRefund('CancelRefund', requestRefund),
};

const TYPES = Object.keys(HISTORIES) as (keyof typeof HISTORIES)[];

test.each(TYPES)('the example of %s is a message that the services publish', async (type) => {
  await HISTORIES[type]();
  const { subject, time, sequence, merchantid, orderid, data } = exampleMessage(type);
  const published = both.inFlight.find((message) => message.type === type);
  expect(published).toMatchObject({ subject, time, sequence, merchantid, orderid });
  expect(published!.data).toEqual(data);
});
