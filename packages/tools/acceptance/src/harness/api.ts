import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type CreateWebhookDto,
  Delivery,
  DeliveryWithAttempts,
  ErrorBody,
  HistoryEntry,
  Merchant,
  type MerchantCreateOrderDto,
  Order,
  OrderDeletion,
  pageOf,
  Payment,
  type PaymentCurrency,
  type PaymentRail,
  Replay,
  TestDelivery,
  type UpdateOrderDto,
  type UpdateWebhookDto,
  Webhook,
  type WebhookEventType,
  WebhookId,
} from '@cpg/contracts';
import { Pool } from 'undici';
import { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type Headers = Record<string, string>;

export interface SendOptions {
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Headers;
}

/** A response. `body` is the parsed JSON, or the text if it is not JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests check its shape
  readonly body: any;
  readonly text: string;
}

export interface DebugPayment {
  readonly order_id: string;
  readonly payment_rail: PaymentRail;
  readonly amount: string;
  readonly currency: PaymentCurrency;
  readonly txHash?: string;
}

const OrderPage = pageOf(Order);
const PaymentPage = pageOf(Payment);
const WebhookPage = pageOf(Webhook);
const DeliveryPage = pageOf(Delivery);
const SentTest = TestDelivery.extend({ is_enabled: z.boolean(), is_subscribed: z.boolean() });
const HistoryPage = z.strictObject({
  items: z.array(HistoryEntry),
  next_cursor: z.string().optional(),
});
const WebhookWithSecret = Webhook.extend({ secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/) });
const WebhookDeletion = z.object({ id: WebhookId, deleted: z.literal(true) });

export type Query = Readonly<Record<string, string | number | undefined>>;
export type Api = ReturnType<typeof createApi>;

// Shorter than a stopping service keeps idle connections (platform/http/drain.ts), so that none closes under a request.
const IDLE_MS = 500;
const ANSWER_WITHIN_MS = 30_000;

/** A client of the public API with one key. Each named call throws unless the response has the documented success
 *  status and exactly the shape of its contract; `send` returns any response. */
export const createApi = ({ baseUrl, apiKey }: { baseUrl: string; apiKey?: string | undefined }) => {
  const pool = new Pool(baseUrl, {
    connections: 64,
    bodyTimeout: ANSWER_WITHIN_MS,
    headersTimeout: ANSWER_WITHIN_MS,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });

  const send = async (method: Method, path: string, { body, headers = {} }: SendOptions = {}): Promise<Answer> => {
    const answer = await pool.request({
      method,
      path,
      headers: {
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, body: jsonOrText(text), text };
  };

  const call = async <T>(
    expected: number,
    shape: z.ZodType<T>,
    method: Method,
    path: string,
    options: SendOptions = {},
  ): Promise<T> => {
    const { status, text, body } = await send(method, path, options);
    if (status !== expected) throw new Error(`${method} ${path} answered ${status}, not ${expected}: ${text}`);
    const parsed = shape.parse(body);
    if (!isDeepStrictEqual(parsed, body))
      throw new Error(`${method} ${path} answered with fields outside its contract: ${text}`);
    return parsed;
  };

  const post = <T>(shape: z.ZodType<T>, path: string, body?: unknown, headers: Headers = {}) =>
    call(201, shape, 'POST', path, { body, headers });

  return {
    send,
    close: () => pool.close(),
    merchant: () => call(200, Merchant, 'GET', '/v1/merchants/me'),

    createOrder: (order: MerchantCreateOrderDto, headers?: Headers) => post(Order, '/v1/orders', order, headers),
    order: (id: string, query: Query = {}) => call(200, Order, 'GET', `/v1/orders/${id}${search(query)}`),
    history: (id: string, query: Query = {}) =>
      call(200, HistoryPage, 'GET', `/v1/orders/${id}/history${search(query)}`),
    orders: (query: Query = {}) => call(200, OrderPage, 'GET', `/v1/orders${search(query)}`),
    cancel: (id: string, headers?: Headers) => post(Order, `/v1/orders/${id}/cancel`, undefined, headers),
    capture: (id: string, headers?: Headers) => post(Order, `/v1/orders/${id}/capture`, undefined, headers),
    updateOrder: (id: string, body: UpdateOrderDto) => call(200, Order, 'PATCH', `/v1/orders/${id}`, { body }),
    deleteOrder: (id: string) => call(200, OrderDeletion, 'DELETE', `/v1/orders/${id}`),

    payment: (id: string) => call(200, Payment, 'GET', `/v1/payments/${id}`),
    payments: (query: Query = {}) => call(200, PaymentPage, 'GET', `/v1/payments${search(query)}`),

    createWebhook: (body: CreateWebhookDto, headers?: Headers) =>
      post(WebhookWithSecret, '/v1/webhooks', body, headers),
    webhook: (id: string) => call(200, Webhook, 'GET', `/v1/webhooks/${id}`),
    webhooks: (query: Query = {}) => call(200, WebhookPage, 'GET', `/v1/webhooks${search(query)}`),
    updateWebhook: (id: string, body: UpdateWebhookDto) => call(200, Webhook, 'PATCH', `/v1/webhooks/${id}`, { body }),
    deleteWebhook: (id: string) => call(200, WebhookDeletion, 'DELETE', `/v1/webhooks/${id}`),
    deliveries: (webhookId: string, query: Query = {}) =>
      call(200, DeliveryPage, 'GET', `/v1/webhooks/${webhookId}/deliveries${search(query)}`),
    delivery: (webhookId: string, id: string) =>
      call(200, DeliveryWithAttempts, 'GET', `/v1/webhooks/${webhookId}/deliveries/${id}`),
    redeliver: (webhookId: string, id: string) =>
      post(Delivery, `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`),
    replay: (webhookId: string, body: { from_date: string; to_date: string; event_types?: WebhookEventType[] }) =>
      post(Replay, `/v1/webhooks/${webhookId}/replay`, body),
    replayOf: (webhookId: string, id: string) => call(200, Replay, 'GET', `/v1/webhooks/${webhookId}/replays/${id}`),
    rotateSecret: (id: string) => post(WebhookWithSecret, `/v1/webhooks/${id}/rotate-secret`),

    pay: (payment: DebugPayment) => post(Order, '/debug/register-payment', payment),
    testWebhook: (webhookId: string, eventType: WebhookEventType) =>
      post(SentTest, '/debug/test-webhook', { webhook_id: webhookId, event_type: eventType }),
  };
};

/** The error body of a refusal. Throws unless it has exactly the shape of the contract. */
export const refusalOf = (answer: Answer): ErrorBody => {
  const parsed = ErrorBody.parse(answer.body);
  if (!isDeepStrictEqual(parsed, answer.body))
    throw new Error(`the error has fields outside its contract: ${answer.text}`);
  return parsed;
};

const search = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Sends a request that must be refused, checks the headers of the response, and resolves with its error body. */
export const requestRefusal = async (
  api: Api,
  method: Method,
  path: string,
  options: SendOptions,
): Promise<ErrorBody> => {
  const answer = await api.send(method, path, options);
  const refusal = refusalOf(answer);
  const { 'content-type': type, 'x-request-id': requestId } = answer.headers;
  expect({ type, requestId }).toEqual({ type: 'application/json; charset=utf-8', requestId: refusal.request_id });
  return refusal;
};

/** The paths of the invalid fields. */
export const pathsOf = ({ details }: ErrorBody): string[] => (details ?? []).map(({ path }) => path);

const RETRY_AFTER_MS = 100;
const ANSWERED_WITHIN_MS = 90_000;
// A request that a crash interrupted may count as running for a while.
const RETRYABLE_CODES = new Set(['idempotency_key_in_use', 'concurrent_update']);

/** Repeats a request until it gets a final answer: retries lost connections, 503 and retryable 409. Throws for a
 *  500, which must not occur whatever fails. */
export const retryUntilAnswered = async (send: () => Promise<Answer>): Promise<Answer> => {
  const end = Date.now() + ANSWERED_WITHIN_MS;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await send();
      if (answer.status === 500) throw new InternalError(answer.text);
      if (answer.status < 500 && !RETRYABLE_CODES.has(answer.body.code as string)) return answer;
      last = answer.text;
    } catch (error) {
      if (error instanceof InternalError) throw error;
      last = error;
    }
    await sleep(RETRY_AFTER_MS);
  }
  throw new Error(`no final answer within ${ANSWERED_WITHIN_MS} ms, the last one was: ${String(last)}`);
};

class InternalError extends Error {}
