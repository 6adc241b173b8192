import { MerchantCreateOrderDto } from '@cpg/contracts';
import Fastify from 'fastify';

/** The least that an order create can cost: Fastify parses the same body with the same zod schema and answers. Runs
 *  as its own process and prints its port. */
const app = Fastify();
app.post('/v1/orders', async (request, reply) => {
  const order = MerchantCreateOrderDto.parse(request.body);
  return reply.code(201).send({ id: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV', ...order });
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log((app.server.address() as { port: number }).port);
