import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { orderBody } from '../harness/order-bodies.ts';

const BODY = JSON.stringify(orderBody());
const ID = /"id":"(ord_[0-9A-Z]{26})"/;

/** Creates orders at low cost for the client: always the same bytes, with a new Idempotency-Key, one request at a time
 *  per connection. */
export const orderClient = ({
  baseUrl,
  apiKey,
  connections,
}: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly connections: number;
}) => {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  /** Resolves with the answer. Throws for any status but 201. */
  const createOrder = async (): Promise<string> => {
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/orders',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: BODY,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`POST /v1/orders answered ${answer.statusCode}: ${text}`);
    return text;
  };
  return {
    createOrder,
    /** Resolves with the id of the new order. */
    create: async (): Promise<string> => ID.exec(await createOrder())![1]!,
    close: () => pool.close(),
  };
};
