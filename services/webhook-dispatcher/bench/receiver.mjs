// Merchants' endpoints: /ok/... answers at once, /hang/... never. Reports when asked over IPC how many it answered.
import { createServer } from 'node:http';

let answered = 0;
const arrivals = new Map();
const server = createServer((request, response) => {
  request.resume();
  arrivals.set(request.headers['x-idempotency-key'], Date.now());
  if (request.url.startsWith('/hang')) return;
  answered += 1;
  response.end();
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => {
  process.send({ answered, arrivals: [...arrivals] });
  arrivals.clear();
});
process.on('disconnect', () => process.exit());
