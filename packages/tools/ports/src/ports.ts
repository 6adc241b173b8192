import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Above the usual ports of programs, below the ephemeral range: Linux gives outgoing connections ports from 32768 on.
// A port of that range can be taken before its program listens on it, or while the program restarts.
// `fetch` refuses port 10080 (Fetch Standard, "port blocking").
const FIRST = 10_081;
const LAST = 32_767;

let next = randomInt(FIRST, LAST + 1);

/** A TCP port of 127.0.0.1, from 10081 to 32767, that no program listens on now.
 *  Gives no port a second time before it has given all. Throws if none is free. */
export const freePort = async (): Promise<number> => {
  for (let tried = FIRST; tried <= LAST; tried += 1) {
    const port = next;
    next = port === LAST ? FIRST : port + 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`every port from ${FIRST} to ${LAST} is taken`);
};

export const isFree = async (port: number): Promise<boolean> => {
  const server = await listenOn(port);
  await new Promise<void>((closed) => (server ? server.close(() => closed()) : closed()));
  return server !== null;
};

/** Takes a port of 127.0.0.1 until the server is closed or this process ends. Null if another program listens on it. */
export const listenOn = (port: number): Promise<Server | null> =>
  new Promise((done) => {
    const server = createServer().once('error', () => done(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => done(server.unref()));
  });
