import type { Server as HttpServer } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyApp } from './any-app.ts';

// Longer than internal-client.ts keeps an idle connection for calls that cannot be retried, so that none closes under
// such a call.
const IDLE_TIMEOUT_MS = 1_000;
const MAX_DRAIN_MS = 6_000;
const POLL_EVERY_MS = 20;
const DRAINING = 'draining';

/** Makes `app.close()` drain connections. New connections are refused at once, and requests in flight are answered.
 *  A request on a kept-alive connection is still answered; Fastify adds `connection: close`. From 1 s after the start of
 *  the close, idle connections are closed, and after 6 s all others. */
export const drainConnectionsOnClose = (app: AnyApp): void => {
  const server = app.server as HttpServer;
  const inFlight = new Map<Socket, number>();
  server.on('connection', (socket) => {
    inFlight.set(socket, 0);
    socket.once('close', () => inFlight.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    const add = (count: number) => inFlight.has(socket) && inFlight.set(socket, inFlight.get(socket)! + count);
    add(1);
    response.once('close', () => add(-1));
  });
  app.addHook('preClose', async () => {
    server.emit(DRAINING);
    // The HTTP server's own `close` would also close idle connections, possibly while a client sends a request.
    NetServer.prototype.close.call(server);
    const startedAt = performance.now();
    while (inFlight.size > 0) {
      const elapsedMs = performance.now() - startedAt;
      for (const [socket, requests] of inFlight)
        if (elapsedMs > MAX_DRAIN_MS || (elapsedMs > IDLE_TIMEOUT_MS && requests === 0)) socket.destroy();
      await sleep(POLL_EVERY_MS);
    }
  });
};

/** Calls `end` when `app.close()` begins, for responses that do not end by themselves. */
export const onDrain = (app: AnyApp, end: () => void): void => void (app.server as HttpServer).once(DRAINING, end);
