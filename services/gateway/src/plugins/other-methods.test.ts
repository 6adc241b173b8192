import { createApp, createLogger } from '@cpg/runtime';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { refuseOtherMethods } from './other-methods.ts';

const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) }) as unknown as FastifyInstance;

beforeAll(async () => {
  refuseOtherMethods(app);
  app.get('/things', async () => 'all');
  app.post('/things', async () => 'one more');
  app.delete('/things/:id', async () => 'gone');
  app.get('/page.html', async () => 'page');
  await app.ready();
});
afterAll(() => app.close());

const ask = (method: string, url: string) => app.inject({ method: method as InjectOptions['method'], url });

test.each([
  ['PUT', '/things', 'GET, HEAD, POST'],
  ['TRACE', '/things?page=1', 'GET, HEAD, POST'],
  ['QUERY', '/things', 'GET, HEAD, POST'],
  ['GET', '/things/1', 'DELETE'],
  ['OPTIONS', '/things/1', 'DELETE'],
])('%s %s is 405 and names the methods that there are', async (method, url, allow) => {
  const answer = await ask(method, url);
  expect(answer.statusCode).toBe(405);
  expect(answer.headers.allow).toBe(allow);
  expect(answer.json()).toMatchObject({ error: 'Method Not Allowed', statusCode: 405, code: 'method_not_allowed' });
});

test.each([
  ['PUT', '/nothing'],
  ['GET', '/things/1/2'],
  ['PUT', '/pageXhtml'],
])('%s %s is 404: there is no such path', async (method, url) => {
  expect((await ask(method, url)).statusCode).toBe(404);
});

test('a method that there is goes to its route', async () => {
  expect((await ask('GET', '/things')).body).toBe('all');
  expect((await ask('DELETE', '/things/1')).body).toBe('gone');
});
