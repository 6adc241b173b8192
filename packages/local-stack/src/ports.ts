import { createServer } from 'node:net';
import type { Config } from './config.ts';
import { LaunchError } from './launch-error.ts';

/** A port that one process is going to listen on. */
export interface PortPlan {
  readonly process: string;
  /** Of the address to listen on. */
  readonly host: string;
  readonly port: number;
  /** Where the others find it: its own port, unless something stands between. */
  readonly via: number;
  /** The variable that moves it. */
  readonly variable: string;
}

const ENGINES_HOST = '127.0.0.1';

/** The ports of everything that this launcher starts itself. Throws LaunchError where two are the same, or one is no port. */
export const planPorts = (config: Config, dispatchers: number): PortPlan[] => {
  const at = (process: string, host: string, variable: keyof Config & `${string}_PORT`, index = 0): PortPlan => {
    const port = config[variable] + index + config.PORT_OFFSET;
    return { process, host, port, via: port + config.VIA_PORT_OFFSET, variable };
  };
  const plans = [
    at('gateway', config.HOST, 'GATEWAY_PORT'),
    at('orders', config.HOST, 'ORDERS_PORT'),
    at('payments', config.HOST, 'PAYMENTS_PORT'),
    ...Array.from({ length: dispatchers }, (_, index) =>
      at(`webhook-dispatcher-${index + 1}`, config.HOST, 'WEBHOOK_DISPATCHER_PORT', index),
    ),
    ...(config.EVENTSTORE_URL ? [] : [at('eventstore', ENGINES_HOST, 'EVENTSTORE_PORT')]),
    ...(config.KAFKA_BROKERS ? [] : [at('kafka', ENGINES_HOST, 'KAFKA_PORT')]),
    ...(config.DATABASE_URL ? [] : [at('postgres', ENGINES_HOST, 'POSTGRES_PORT')]),
  ];
  const faults = plans.flatMap((plan, index) => {
    if (plan.port < 1 || plan.port > 65_535) return [`${plan.port} for ${plan.process} is no port: ${remedy(plan)}`];
    const twin = plans.slice(0, index).find((earlier) => earlier.port === plan.port);
    return twin ? [`${plan.process} and ${twin.process} would both listen on port ${plan.port}: ${remedy(plan)}`] : [];
  });
  if (faults.length > 0) throw new LaunchError(faults.join('\n'));
  return plans;
};

/** Throws LaunchError naming every port of the plans that cannot be listened on, and the variables to set. */
export const requireFreePorts = async (plans: readonly PortPlan[]): Promise<void> => {
  const faults = await Promise.all(
    plans.map(async (plan) => {
      const code = await listenFault(plan);
      if (!code) return [];
      const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be listened on at ${plan.host} (${code})`;
      return [`port ${plan.port} for ${plan.process} ${reason}: ${remedy(plan)}`];
    }),
  );
  if (faults.some((lines) => lines.length > 0)) throw new LaunchError(faults.flat().join('\n'));
};

const remedy = ({ variable }: PortPlan) => `set ${variable} to another, or PORT_OFFSET to move all of them`;

const listenFault = ({ host, port }: PortPlan): Promise<string | null> =>
  new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  });
