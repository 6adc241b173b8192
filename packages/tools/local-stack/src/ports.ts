import { createServer } from 'node:net';
import { type Config, LaunchError } from './config.ts';

/** The port of one process. */
export interface PortPlan {
  readonly process: string;
  /** IP address or name to listen on. */
  readonly host: string;
  readonly port: number;
  /** The port that clients connect to. It differs from `port` only in tests with a proxy in between. */
  readonly via: number;
  /** The variable that sets the port. */
  readonly variable: string;
  /** Names of the instances behind it: it is the proxy of a service, which the launcher itself runs. */
  readonly instances?: readonly string[];
}

/** The services that can have several instances. */
export const SCALABLE = ['gateway', 'orders', 'payments', 'webhook-dispatcher'] as const;

/** Number of instances of each service: 1 where it is absent. */
export type Scale = Partial<Record<(typeof SCALABLE)[number], number>>;

const LOOPBACK = '127.0.0.1';
/** Instance N of a service behind a proxy listens on the port of the service plus N times this. */
const INSTANCES_APART = 100;

/** Ports that browsers, and `fetch` in Node.js, refuse to connect to. Source: WHATWG Fetch, "Port blocking". */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/** Whether a browser opens the port: for the payment page and the documents, and wallets for the chain. */
const isForBrowsers = ({ variable }: PortPlan): boolean => ['GATEWAY_PORT', 'CHAIN_PORT'].includes(variable);

/** Assigns a port to every process that the launcher starts, and to its proxies. A service that has one instance has no
 *  proxy and no number in its name. Dispatchers are numbered and need no proxy. Throws
 *  LaunchError for duplicate or invalid ports, and for those that browsers block. */
export const planPorts = (config: Config, scale: Scale = {}): PortPlan[] => {
  const planFor = (process: string, host: string, variable: keyof Config & `${string}_PORT`, index = 0): PortPlan => {
    const port = config[variable] + index + config.PORT_OFFSET;
    return { process, host, port, via: port + config.VIA_PORT_OFFSET, variable };
  };
  const planService = (service: 'gateway' | 'orders' | 'payments', variable: keyof Config & `${string}_PORT`) => {
    const { [service]: count = 1 } = scale;
    const front = planFor(service, config.HOST, variable);
    if (count === 1) return [front];
    const instances = Array.from({ length: count }, (_, index) => {
      const plan = planFor(`${service}-${index + 1}`, LOOPBACK, variable, (index + 1) * INSTANCES_APART);
      return { ...plan, via: plan.port };
    });
    return [{ ...front, instances: instances.map(({ process }) => process) }, ...instances];
  };
  const plans = [
    ...planService('gateway', 'GATEWAY_PORT'),
    ...planService('orders', 'ORDERS_PORT'),
    ...planService('payments', 'PAYMENTS_PORT'),
    ...Array.from({ length: scale['webhook-dispatcher'] ?? 1 }, (_, index) =>
      planFor(`webhook-dispatcher-${index + 1}`, config.HOST, 'WEBHOOK_DISPATCHER_PORT', index),
    ),
    ...(config.EVENTSTORE_URL ? [] : [planFor('eventstore', LOOPBACK, 'EVENTSTORE_PORT')]),
    ...(config.KAFKA_BROKERS ? [] : [planFor('kafka', LOOPBACK, 'KAFKA_PORT')]),
    ...(config.CHAIN === 'off' ? [] : [planFor('chain', LOOPBACK, 'CHAIN_PORT')]),
    ...(config.DATABASE_URL ? [] : [planFor('postgres', LOOPBACK, 'POSTGRES_PORT')]),
  ];
  const faults = plans.flatMap((plan, index) => {
    if (plan.port < 1 || plan.port > 65_535)
      return [`${plan.port} for ${plan.process} is not a valid port: ${remedy(plan)}`];
    if (isForBrowsers(plan) && BLOCKED_PORTS.has(plan.port))
      return [`browsers block port ${plan.port}, which ${plan.process} would use: ${remedy(plan)}`];
    const duplicate = plans.slice(0, index).find((earlier) => earlier.port === plan.port);
    return duplicate
      ? [`${plan.process} and ${duplicate.process} would both listen on port ${plan.port}: ${remedy(plan)}`]
      : [];
  });
  if (faults.length > 0) throw new LaunchError(faults.join('\n'));
  return plans;
};

/** Throws LaunchError with every port that cannot be used, and the variables to set. */
export const requireFreePorts = async (plans: readonly PortPlan[]): Promise<void> => {
  const faults = await Promise.all(
    plans.map(async (plan) => {
      const code = await listenError(plan);
      if (!code) return [];
      const reason = code === 'EADDRINUSE' ? 'is in use' : `cannot be used on ${plan.host} (${code})`;
      return [`port ${plan.port} for ${plan.process} ${reason}: ${remedy(plan)}`];
    }),
  );
  if (faults.some((lines) => lines.length > 0)) throw new LaunchError(faults.flat().join('\n'));
};

const remedy = ({ variable }: PortPlan) => `set ${variable} to another port, or PORT_OFFSET to move all ports`;

const listenError = ({ host, port }: PortPlan): Promise<string | null> =>
  new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  });
