import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import Fastify from 'fastify';

/** A process that serves constant pages and streams, and prints its port. */
const page = readFileSync(process.argv[2]!, 'utf8');
const app = Fastify();
const streams = new Set<ServerResponse>();
app.get('/pay/:reference', async (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
app.get('/pay/:reference/events', async (_request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: changed\ndata: first\n\n');
  streams.add(reply.raw);
});
app.get('/bare', async (_request, reply) =>
  reply.type('text/html; charset=utf-8').send('<!doctype html><title>Bare</title><p>A bare page.'),
);
app.post('/change', async () => {
  for (const stream of streams) stream.write('event: changed\ndata: second\n\n');
  return {};
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log((app.server.address() as { port: number }).port);
