import { LaunchError } from '../launch-error.ts';
import { httpAddress } from '../environment.ts';
import type { PortPlan } from '../ports.ts';
import { answersReady } from '../readiness.ts';
import { startProxy } from './proxy.ts';

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
