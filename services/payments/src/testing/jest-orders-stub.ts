import { createServer, type IncomingMessage } from 'node:http';
import {
  ERROR_CODES,
  type ErrorCode,
  FailPaymentCall,
  offeredPayment,
  OfferPaymentCall,
  type OrderAndOutcomes,
  type OrderStatus,
  type OrderSummary,
  type PaymentOutcome,
  RefundPaymentCall,
} from '@cpg/contracts';
import { type Decide, orderView, type StubOrder } from './jest-orders-stub-views.ts';

/** A stub of the orders service over real HTTP. It repeats its decisions, except `received`. */
export const startOrdersStub = async () => {
  const orders = new Map<string, StubOrder>();
  const statuses = new Map<string, OrderStatus>();
  const calls: string[] = [];
  const notices: (FailPaymentCall | RefundPaymentCall)[] = [];
  let refusedWith: ErrorCode | null = null;
  let droppingResponses = false;

  const answer = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const [, , id = '', kind, paymentId, change] = request.url!.split('/');
    const order = orders.get(id);
    if (!order) return { status: 404, body: refusal('not_found', 404) };
    if (kind === 'summary') {
      const status = statuses.get(id) ?? 'awaiting_payment';
      const summary: OrderSummary = {
        id,
        merchant_id: order.merchantId,
        currency: 'USDC',
        status,
        rails: ['gateway_pay'],
      };
      return { status: 200, body: summary };
    }
    if (refusedWith) return { status: ERROR_CODES[refusedWith], body: refusal(refusedWith, ERROR_CODES[refusedWith]) };
    const outcomes: PaymentOutcome[] = [];
    if (paymentId) {
      const body = await bodyOf(request);
      if (change === 'failure') notices.push(FailPaymentCall.parse(body));
      else notices.push(RefundPaymentCall.parse(body));
    } else {
      const offer = OfferPaymentCall.parse(await bodyOf(request));
      const payment = offeredPayment(offer);
      const confirmed = offer.confirmed_at !== undefined;
      const earlier = order.payments.get(payment.paymentId)?.outcome;
      const outcome = earlier && earlier.status !== 'received' ? earlier : order.decide(payment, confirmed);
      order.payments.set(payment.paymentId, { payment, outcome });
      outcomes.push(outcome);
    }
    return { status: 200, body: { order: orderView(order), outcomes } satisfies OrderAndOutcomes };
  };

  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    void answer(request).then(({ status, body }) =>
      droppingResponses && request.method === 'POST'
        ? response.destroy()
        : response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** The failures and refunds it received. */
    notices,
    add: (id: string, merchantId: string, decide: Decide) =>
      void orders.set(id, { id, merchantId, decide, payments: new Map() }),
    has: (id: string) => orders.has(id),
    remove: (id: string) => orders.delete(id),
    /** The status in the summary of an order: `awaiting_payment` by default. */
    setStatus: (id: string, status: OrderStatus) => void statuses.set(id, status),
    /** Makes the stub decide again on a payment. */
    resetDecision: (paymentId: string) => orders.forEach(({ payments }) => payments.delete(paymentId)),
    /** Makes the stub decide on a payment in another way from now on. */
    decideAgain: (paymentId: string, decide: Decide) => {
      for (const order of orders.values())
        if (order.payments.delete(paymentId)) orders.set(order.id, { ...order, decide });
    },
    /** Makes the stub refuse payments, as during an outage. */
    setUnavailable: (value: boolean) => void (refusedWith = value ? 'dependency_unavailable' : null),
    /** Makes the stub refuse payments with this error. */
    refuseWith: (code: ErrorCode | null) => void (refusedWith = code),
    /** Makes the stub execute commands but drop its responses. */
    setDroppingResponses: (value: boolean) => void (droppingResponses = value),
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
