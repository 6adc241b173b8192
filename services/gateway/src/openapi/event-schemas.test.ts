import { exampleMessage } from '@cpg/contracts';
import Fastify from 'fastify';
import { serveEventSchemas } from './event-schemas.ts';

const app = Fastify();
serveEventSchemas(app);
afterAll(() => app.close());

test('a consumer finds the schema of a message by its dataschema', async () => {
  const { dataschema } = exampleMessage('payment.refunded');
  const { statusCode, headers, body } = await app.inject(`/schemas/${dataschema.split(':').at(-1)!}.json`);
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/schema+json; charset=utf-8']);
  expect(JSON.parse(body)).toMatchObject({ $id: dataschema, title: 'payment.refunded' });
});

test('the AsyncAPI document is there too, and nothing else of the disk', async () => {
  const { headers, body } = await app.inject('/schemas/asyncapi.json');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(JSON.parse(body)).toHaveProperty('asyncapi');
  for (const path of ['/schemas/', '/schemas/order.json', '/schemas/..%2fmerchants.md'])
    expect((await app.inject(path)).statusCode).toBe(404);
});
