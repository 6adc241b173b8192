import { MerchantCreateOrderDto } from '@cpg/contracts';
import Fastify from 'fastify';

/** What an order create costs at the least: the same body through Fastify and the same zod schema, and an answer. A program of its own,
 *  which prints the port it listens on. */
const app = Fastify();
app.post('/v1/orders', async (request, reply) => {
  const order = MerchantCreateOrderDto.parse(request.body);
  return reply.code(201).send({ id: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV', ...order });
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log((app.server.address() as { port: number }).port);
