import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type {
  AppError,
  AssignedInstruction,
  RefundableCall,
  RefundableOfOrder,
  Stock,
  StockCall,
  UnsettledPayment,
} from '@cpg/contracts';
import { errorBody } from '@cpg/platform';
import { instruction } from './orders.ts';

/** A stub of payments for orders: it returns one deposit instruction, leases references, and keeps every call. */
export const startPaymentsStub = async () => {
  const calls: { path: string; body: unknown }[] = [];
  let slow = false;
  let available = true;
  let refusal: AppError | null = null;
  let unsettled: UnsettledPayment = { payment_id: null };
  let paymentIds: readonly string[] = [];
  let openRefunds: Readonly<Record<string, string>> = {};
  let waitingFor: string[] = [];
  let leased = 0;
  const stockFor = ({ references }: StockCall): Stock => {
    const lease = () => ({ payment_reference: `LEASED${(leased += 1)}`, payment_url: 'http://127.0.0.1:4000/pay/REF' });
    return { addresses: {}, references: { sandbox: Array.from({ length: references }, lease) } };
  };
  const refundableOf = ({ payment_ids }: RefundableCall): RefundableOfOrder => ({
    payments: payment_ids.map((id) => ({
      payment_id: id,
      left_minor: '0',
      recorded_parts: [],
      ...(openRefunds[id] && { open_refund: openRefunds[id] }),
    })),
  });
  const bodyOf = async (request: IncomingMessage) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    return text === '' ? null : JSON.parse(text);
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    calls.push({ path: `${request.method} ${request.url}`, body });
    if (!available) return void response.writeHead(503).end();
    if (request.url === '/instructions' && slow) return;
    if (request.url === '/instructions' && refusal)
      return void response
        .writeHead(refusal.statusCode, { 'content-type': 'application/json' })
        .end(JSON.stringify(errorBody(refusal, 'req_stub')));
    const answers: Record<string, object> = {
      '/instructions': { instructions: [instruction] satisfies AssignedInstruction[] },
      ...(request.url === '/stock' && { '/stock': stockFor(body) }),
      '/chains/waiting': { waiting_for: waitingFor },
      '/providers/waiting': { waiting_for: waitingFor },
      ...(request.url === '/refundable' && { '/refundable': refundableOf(body) }),
      'unsettled-payment': unsettled,
      ...(request.method === 'GET' && { payments: { payment_ids: paymentIds } }),
    };
    const answer = answers[request.url!] ?? answers[request.url!.split('/').at(-1)!];
    response
      .writeHead(answer ? 200 : 204, { 'content-type': 'application/json' })
      .end(answer && JSON.stringify(answer));
  };
  const server: Server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    setAvailable: (value: boolean) => void (available = value),
    /** Refuses instructions. */
    setRefusal: (error: AppError | null) => void (refusal = error),
    setSlow: (value: boolean) => void (slow = value),
    /** Networks and providers that were not read past any deadline. */
    setWaitingFor: (networks: string[]) => void (waitingFor = networks),
    setPaymentIds: (ids: readonly string[]) => void (paymentIds = ids),
    setUnsettled: (payment: UnsettledPayment) => void (unsettled = payment),
    /** By payment id. */
    setOpenRefunds: (refunds: Readonly<Record<string, string>>) => void (openRefunds = refunds),
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
};
