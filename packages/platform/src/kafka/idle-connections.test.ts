import { createRequire } from 'node:module';

// A class of kafkajs that it does not export. It is changed by patches/kafkajs@2.2.4.patch.
interface RequestQueue {
  readonly throttleCheckTimeoutId: unknown;
  push(request: object): void;
  fulfillRequest(response: object): void;
  destroy(): void;
}
const load = createRequire(import.meta.url);
const KafkaRequestQueue = load('kafkajs/src/network/requestQueue') as new (options: object) => RequestQueue;
const logger = { debug: () => {} };

test('a connection whose requests are all answered sets no timer', () => {
  const queue = new KafkaRequestQueue({ maxInFlightRequests: null, requestTimeout: 60_000, clientId: 'test', logger });
  const entry = { correlationId: 1, apiName: 'Fetch', resolve: () => {}, reject: () => {} };
  queue.push({ entry, expectResponse: true, sendRequest: () => {} });
  queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
  const timer = queue.throttleCheckTimeoutId;
  queue.destroy();
  expect(timer ?? null).toBeNull();
});
