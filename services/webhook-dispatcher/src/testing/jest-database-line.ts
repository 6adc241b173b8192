import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line to a database, that can be cut: then what is connected is thrown out, and so is whoever connects until it is mended. */
export const layDatabaseLine = async (databaseUrl: string) => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((caller) => {
    if (isCut) return void caller.resetAndDestroy();
    const callee = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const throwOut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: url.toString(),
    cut: () => {
      isCut = true;
      throwOut();
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      throwOut();
      server.close();
    },
  };
};

export type DatabaseLine = Awaited<ReturnType<typeof layDatabaseLine>>;
