import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderPayment } from '@cpg/contracts';
import { requireSignature, SIGNATURE_HEADER, signedHeaders, TIMESTAMP_HEADER } from '../rails/gateway-pay/signature.ts';

/** An outside provider, for tests alone: it registers orders and answers queries over HTTP, and sends callbacks. */
export const startReferenceProvider = async (secret: string) => {
  const pages = new Map<string, { readonly reference: string; readonly payments: ProviderPayment[] }>();
  const requests: string[] = [];
  let callbackUrl = '';

  const answer = (path: string, body: Record<string, string>): unknown => {
    if (path === '/v1/orders') {
      callbackUrl = body.callback_url!;
      const orderId = body.order_id!;
      const page = pages.get(orderId) ?? { reference: `REF-${orderId}`, payments: [] };
      pages.set(orderId, page);
      return {
        payment_reference: page.reference,
        payment_url: `https://pay.example/${page.reference}`,
        qr_content: 'qr',
      };
    }
    const page = [...pages.values()].find(({ reference }) => reference === body.payment_reference);
    return { payments: page?.payments ?? [] };
  };
  const respond = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
    const body = await bodyOf(request);
    const [timestamp, signature] = [request.headers[TIMESTAMP_HEADER], request.headers[SIGNATURE_HEADER]];
    const headers = { timestamp: timestamp as string, signature: signature as string };
    requests.push(request.url!);
    try {
      requireSignature(headers, body, { secrets: [secret], now: new Date() });
    } catch {
      return [401, {}];
    }
    return [200, answer(request.url!, JSON.parse(body.toString()))];
  };
  const server = createServer((request, response) => {
    void respond(request).then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

  /** Sends a signed callback at the instant `now`. `body` replaces the body after signing. */
  const send = async (
    payment: ProviderPayment,
    { now = new Date(), signedWith = secret, body = JSON.stringify(payment) } = {},
  ) => {
    const headers = { 'content-type': 'application/json', ...signedHeaders(signedWith, JSON.stringify(payment), now) };
    const response = await fetch(callbackUrl, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    send,
    /** Takes a payment for an order without sending its callback. */
    takePayment: (payment: ProviderPayment) => void pages.get(payment.order_id)!.payments.push(payment),
    stop: () => new Promise<void>((done) => (server.closeAllConnections(), server.close(() => done()))),
  };
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
