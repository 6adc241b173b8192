import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The lower bound for a page: `node:http` sends bytes that it got by PUT. Prints its port. */
let page: Buffer = Buffer.alloc(0);
const server = createServer(async (request, response) => {
  if (request.method === 'PUT') page = await buffer(request);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(request.method === 'PUT' ? undefined : page);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
