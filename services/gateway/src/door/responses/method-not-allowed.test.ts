import { createApp, createLogger } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { answerMethodNotAllowed } from './headers.ts';

const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) }) as unknown as FastifyInstance;

beforeAll(async () => {
  answerMethodNotAllowed(app);
  app.get('/things', async () => 'all');
  app.post('/things', async () => 'created');
  app.delete('/things/:id', async () => 'gone');
  app.post('/things/:id/cancel', async () => 'canceled');
  app.post('/:id/replay/:replay_id', async () => 'again');
  app.get('/page.html', async () => 'page');
  await app.ready();
});
afterAll(() => app.close());

const inject = (method: string, url: string) => app.inject({ method, url });

test.each([
  ['PUT', '/things', 'GET, HEAD, POST'],
  ['TRACE', '/things?page=1', 'GET, HEAD, POST'],
  ['QUERY', '/things', 'GET, HEAD, POST'],
  ['GET', '/things/1', 'DELETE'],
  ['OPTIONS', '/things/1', 'DELETE'],
])('%s %s is 405 and lists the allowed methods', async (method, url, allow) => {
  const response = await inject(method, url);
  expect(response.statusCode).toBe(405);
  expect(response.headers.allow).toBe(allow);
  expect(response.json()).toMatchObject({ error: 'Method Not Allowed', statusCode: 405, code: 'method_not_allowed' });
});

test.each([
  ['POST', '/things/cancel', 405, '/things/cancel allows DELETE, not POST: did you mean POST /things/{id}/cancel?'],
  ['DELETE', '/things', 405, '/things allows GET, HEAD, POST, not DELETE: did you mean DELETE /things/{id}?'],
  ['POST', '/replay', 404, 'there is no endpoint POST /replay: did you mean /{id}/replay/{replay_id}?'],
])('%s %s names the path with the id that is missing', async (method, url, status, message) => {
  const response = await inject(method, url);
  expect(response.statusCode).toBe(status);
  expect(response.json().message).toBe(message);
});

test.each([
  ['PUT', '/nothing'],
  ['GET', '/things/1/2'],
  ['PUT', '/pageXhtml'],
])('%s %s is 404 because the path does not exist', async (method, url) => {
  expect((await inject(method, url)).statusCode).toBe(404);
});

test('an allowed method reaches its route', async () => {
  expect((await inject('GET', '/things')).body).toBe('all');
  expect((await inject('DELETE', '/things/1')).body).toBe('gone');
});
