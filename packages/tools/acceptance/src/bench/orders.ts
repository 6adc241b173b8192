import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { orderBody } from '../harness/order-bodies.ts';

const BODY = JSON.stringify(orderBody());
const ID = /"id":"(ord_[0-9A-Z]{26})"/;

/** Creates orders at low cost for the client: always the same bytes, with a new Idempotency-Key, one request at a time
 *  per connection. */
export const creator = ({ baseUrl, apiKey, connections }: { baseUrl: string; apiKey: string; connections: number }) => {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return {
    /** Resolves with the id of the new order. Throws for any answer but 201. */
    create: async (): Promise<string> => {
      const answer = await pool.request({
        method: 'POST',
        path: '/v1/orders',
        headers: { ...headers, 'idempotency-key': randomUUID() },
        body: BODY,
      });
      const text = await answer.body.text();
      const id = ID.exec(text)?.[1];
      if (answer.statusCode !== 201 || !id) throw new Error(`POST /v1/orders answered ${answer.statusCode}: ${text}`);
      return id;
    },
    close: () => pool.close(),
  };
};
