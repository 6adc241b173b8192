import { once } from 'node:events';
import { createServer } from 'node:http';
import { LaunchError } from '../config.ts';
import { httpAddress } from '../environment.ts';
import type { PortPlan } from '../ports.ts';
import { answersReady } from '../readiness.ts';
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

/** Shorter than a service needs at worst, so that a frozen instance is taken out soon. */
const CHECK_TIMEOUT_MS = 1_000;

/** Starts the proxy of every service that has several instances. Returns a function that stops them. */
export const startProxies = async (
  ports: readonly PortPlan[],
  warn: (sentence: string) => void,
): Promise<() => void> => {
  const stops: (() => void)[] = [];
  const stop = () => stops.forEach((each) => each());
  for (const { process: service, host, port, instances } of ports) {
    if (!instances) continue;
    const addresses = ports
      .filter(({ process }) => instances.includes(process))
      .map((plan) => ({ name: plan.process, host: plan.host, port: plan.port }));
    try {
      const check = ({ name }: { name: string }) => answersReady(httpAddress(ports, name), CHECK_TIMEOUT_MS)();
      stops.push(await startProxy({ host, port, addresses, check, warn }));
    } catch (cause) {
      stop();
      throw new LaunchError(`the proxy of ${service} cannot listen on port ${port}: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  return stop;
};
