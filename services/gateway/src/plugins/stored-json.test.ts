import Fastify from 'fastify';
import { sendStoredJson, storedItems } from './stored-json.ts';

const app = Fastify();
const stored = ['{"id":"a","name":"Café ☕"}', '{"id":"b",  "amount":1.50}'];

beforeAll(() => {
  sendStoredJson(app);
  const schema = { response: { 200: {} } };
  app.get('/page', { schema }, async () => ({ items: storedItems(stored), total: 2, next: 'é' }));
  app.get('/empty', { schema }, async () => ({ items: storedItems([]), total: 0 }));
  app.get('/nested', { schema }, async () => ({ page: { items: storedItems(stored) } }));
});
afterAll(() => app.close());

test('a page has the stored text of its items, byte for byte', async () => {
  const { body, headers } = await app.inject('/page');
  expect(body).toBe(`{"items":[${stored.join(',')}],"total":2,"next":"é"}`);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  });
});

test('other responses are JSON as usual', async () => {
  expect((await app.inject('/empty')).body).toBe('{"items":[],"total":0}');
  expect((await app.inject('/nested')).json()).toEqual({
    page: {
      items: [
        { id: 'a', name: 'Café ☕' },
        { id: 'b', amount: 1.5 },
      ],
    },
  });
});
