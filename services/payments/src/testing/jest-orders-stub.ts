import { createServer, type IncomingMessage } from 'node:http';
import {
  FailPaymentCall,
  fromMinor,
  OfferPaymentCall,
  type OfferedPayment,
  type Order,
  type OrderAndOutcomes,
  type Payment,
  type PaymentOutcome,
  RefundPaymentCall,
} from '@cpg/contracts';

/** What the stub decides of a payment that is offered for the first time. */
export type Decide = (payment: OfferedPayment, confirmed: boolean) => PaymentOutcome;

interface StubOrder {
  readonly id: string;
  readonly merchantId: string;
  readonly decide: Decide;
  readonly payments: Map<string, { payment: OfferedPayment; outcome: PaymentOutcome }>;
}

/** The orders service as payments sees it, over real HTTP: it decides once on each payment, and says so each time. */
export const startOrdersStub = async () => {
  const orders = new Map<string, StubOrder>();
  const calls: string[] = [];
  const told: (FailPaymentCall | RefundPaymentCall)[] = [];
  let away = false;
  let losing = false;

  const answer = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const [, , id = '', kind, paymentId, news] = request.url!.split('/');
    const order = orders.get(id);
    if (!order) return { status: 404, body: refusal('not_found', 404) };
    if (kind === 'summary') return { status: 200, body: { id, merchant_id: order.merchantId, currency: 'USDC' } };
    if (away) return { status: 503, body: refusal('dependency_unavailable', 503) };
    const outcomes: PaymentOutcome[] = [];
    if (paymentId) {
      const body = await bodyOf(request);
      if (news === 'failure') told.push(FailPaymentCall.parse(body));
      else told.push(RefundPaymentCall.parse(body));
    } else {
      const { payment, confirmed } = OfferPaymentCall.parse(await bodyOf(request));
      const known = order.payments.get(payment.paymentId);
      const outcome = known?.outcome ?? order.decide(payment, confirmed);
      order.payments.set(payment.paymentId, { payment, outcome });
      outcomes.push(outcome);
    }
    return { status: 200, body: { order: view(order), outcomes } satisfies OrderAndOutcomes };
  };

  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    void answer(request).then(({ status, body }) =>
      losing && request.method === 'POST'
        ? response.destroy()
        : response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** The failures and refunds it heard of. */
    told,
    add: (id: string, merchantId: string, decide: Decide) =>
      void orders.set(id, { id, merchantId, decide, payments: new Map() }),
    remove: (id: string) => orders.delete(id),
    /** Lets it decide anew on a payment. */
    forget: (paymentId: string) => orders.forEach(({ payments }) => payments.delete(paymentId)),
    /** Whether it takes no payments, as when it is away. */
    setAway: (value: boolean) => void (away = value),
    /** Whether it does what it is asked, and its answers to commands are lost. */
    setLosing: (value: boolean) => void (losing = value),
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text);
};

const refusal = (code: string, statusCode: number) => ({
  error: 'Refused',
  message: 'refused by the stub',
  statusCode,
  code,
  request_id: 'req_stub',
});

const view = ({ id, merchantId, payments }: StubOrder): Order => ({
  id,
  external_reference_id: 'cart-1',
  merchant_id: merchantId,
  items: [],
  payments: [...payments.values()].map(({ payment, outcome }) => paymentView(payment, outcome, { id, merchantId })),
  status: 'awaiting_payment',
  total_amount: '10.000000',
  remaining_amount: '10.000000',
  currency: 'USDC',
  rates: {},
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  deposit_instructions: [],
});

const paymentView = (
  payment: OfferedPayment,
  outcome: PaymentOutcome,
  order: { id: string; merchantId: string },
): Payment => {
  const amount = (minor: string) => fromMinor(BigInt(minor), payment.currency);
  return {
    id: payment.paymentId,
    merchant_id: order.merchantId,
    order_id: order.id,
    status: outcome.status,
    payment_rail: payment.rail,
    provider_id: payment.providerId,
    paid_amount: amount(payment.amountMinor),
    fee_amount: amount(payment.feeMinor),
    net_amount: amount(String(BigInt(payment.amountMinor) - BigInt(payment.feeMinor))),
    currency: payment.currency,
    ...(outcome.status === 'applied' && { applied_amount: amount(outcome.applied_minor) }),
    ...(outcome.status === 'applied' &&
      outcome.unapplied_minor !== '0' && { unapplied_amount: amount(outcome.unapplied_minor) }),
    ...(outcome.status === 'orphan' && { orphan_reason: outcome.orphan_reason }),
    created_at: payment.receivedAt,
    updated_at: 'at' in outcome ? outcome.at : payment.receivedAt,
  };
};
