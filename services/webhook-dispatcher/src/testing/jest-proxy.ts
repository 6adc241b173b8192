import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** An HTTP proxy on loopback. It tunnels every request to 127.0.0.1, whatever the address; with another `status` than
 *  200 it refuses all. */
export const startProxy = async ({ status = 200 } = {}) => {
  const requests: { authority: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer().on('connect', (request: IncomingMessage, client: Socket) => {
    const authority = request.url ?? '';
    requests.push({ authority, authorization: request.headers['proxy-authorization'] });
    sockets.add(client);
    client.on('error', () => {});
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(authority.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: (credentials = '') => new URL(`http://${credentials}127.0.0.1:${port}`),
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(done);
      }),
  };
};
