import type { Server as HttpServer } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyApp } from './http.ts';

// Longer than a client of ours keeps a connection that it does not use (internal-client.ts): none is closed with a request on its way.
const IDLE_FOR_MS = 1_000;
const AT_MOST_MS = 6_000;
const LOOK_EVERY_MS = 20;

/** Makes closing cut nobody off: new connections are refused at once, so that clients go elsewhere or come again; what runs is answered; a
 *  request that still comes over a connection kept alive is answered too, with `connection: close`. Idle ones are closed after a while. */
export const drainConnectionsOnClose = (app: AnyApp): void => {
  const server = app.server as HttpServer;
  const working = new Map<Socket, number>();
  server.on('connection', (socket) => {
    working.set(socket, 0);
    socket.once('close', () => working.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    const change = (by: number) => working.has(socket) && working.set(socket, working.get(socket)! + by);
    change(1);
    response.once('close', () => change(-1));
  });
  app.addHook('preClose', async () => {
    // The one of HTTP would close idle connections with it, in the face of whoever is about to use one.
    NetServer.prototype.close.call(server);
    const began = performance.now();
    while (working.size > 0) {
      const passed = performance.now() - began;
      for (const [socket, requests] of working)
        if (passed > AT_MOST_MS || (passed > IDLE_FOR_MS && requests === 0)) socket.destroy();
      await sleep(LOOK_EVERY_MS);
    }
  });
};
