import { once } from 'node:events';
import { createServer } from 'node:http';
import { forward } from './forward.ts';
import { createInstances, type InstancesOptions } from './instances.ts';

export interface ProxyOptions extends InstancesOptions {
  readonly host: string;
  readonly port: number;
}

/** Starts an HTTP proxy that gives requests to the instances of a service in turn. Returns a function that stops it. */
export const startProxy = async ({ host, port, ...options }: ProxyOptions): Promise<() => void> => {
  const instances = createInstances(options);
  // The instances limit the time of requests. Clients close idle connections first.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (incoming, response) =>
    forward(instances, incoming, response),
  );
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
    instances.stop();
  };
};
