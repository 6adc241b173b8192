import type { DomainMessage } from '@cpg/contracts';
import {
  type CommandHandler,
  commandHandler,
  type CommandHandlerOptions,
  type DomainEvent,
  eventStoreClock,
} from '@cpg/event-sourcing';
import {
  createClockGuard,
  createConcurrencyLimit,
  createServiceLog,
  createServiceMetrics,
  createStartGate,
  createStartupTasks,
  type EventStoreConfig,
  internalApp,
  type InternalAppOptions,
  type InternalClient,
  internalClient,
  type KafkaConfig,
  runService,
  type ServiceConfig,
  wallClock,
} from '@cpg/platform';
import { databaseClocks, isTransientDatabaseError } from '@cpg/platform/postgres';
import type { z } from 'zod';
import { type BackgroundWork, startBackgroundWork } from './background-work.ts';
import { openConnections } from './connections.ts';
import { type Scale, withRecordedScales } from './currency-scales.ts';

type Config = z.infer<typeof ServiceConfig> &
  z.infer<typeof EventStoreConfig> &
  z.infer<typeof KafkaConfig> & { readonly PORT: number };

/** The inputs of an event-sourced service: connections, clock, log and metrics. */
export type OpenedService = ReturnType<typeof openService>;

/** The parts of an event-sourced service. */
interface ServiceParts<M extends DomainMessage> extends BackgroundWork<M> {
  readonly app: ReturnType<typeof eventSourcedApp>;
}

/** Runs a service whose facts are events. `build` makes its parts from what is open. The service then answers calls,
 *  and starts its background work once schema and event store are known to be its own. */
export const startEventSourcedService = <C extends Config, M extends DomainMessage>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
  build: (opened: OpenedService, config: C) => ServiceParts<M>,
): Promise<void> =>
  runService(async () => {
    const config = readConfig(process.env);
    const opened = openService(name, config);
    const { log, clock, connections, peers } = opened;
    const { app, ...parts } = build(opened, config);
    await app.listen({ port: config.PORT, host: config.HOST });
    clock.start();
    const work = startBackgroundWork(opened, config, parts);
    const closePeers = () => Promise.all(peers.map((peer) => peer.close()));
    return { log, close: [() => app.close(), clock.stop, work.stop, closePeers, ...connections.close] };
  });

const openService = (name: string, config: Config) => {
  const { log, outages } = createServiceLog({ name, level: config.LOG_LEVEL });
  const now = wallClock;
  const connections = openConnections(config, { name, log, outages });
  const { client, readModel, followerPool } = connections;
  const metrics = createServiceMetrics(outages);
  const clock = createClockGuard({ now, ...databaseClocks(readModel, [eventStoreClock(client)]), metrics, log });
  const startupTasks = createStartupTasks(log);
  const gate = createStartGate();
  const peers: InternalClient[] = [];
  return {
    log,
    now,
    outages,
    connections,
    client,
    readModel,
    followerPool,
    metrics,
    clock,
    startupTasks,
    gate,
    peers,
    /** A client of another service, whose outages are followed. */
    peer: (options: Parameters<typeof internalClient>[0]): InternalClient => {
      const client = internalClient({ ...options, outages });
      peers.push(client);
      return client;
    },
    /** A handler that records the decimals of a currency before its first amount. */
    commandHandler: <State, Command, E extends DomainEvent>({
      scaleOf,
      ...options
    }: Omit<CommandHandlerOptions<State, Command, E>, 'client'> & {
      /** The currency and the decimals of a command that stores the first amount of a stream. */
      readonly scaleOf: (command: Command) => Scale | null;
    }): CommandHandler<State, Command, E> =>
      withRecordedScales(commandHandler({ ...options, client }), { client, actor: `service:${name}`, scaleOf }),
    /** The options that each HTTP server needs. */
    http: {
      gate,
      log,
      outages,
      checks: { ...connections.checks, preparation: startupTasks.check, 'known-event-store': gate.check },
      details: async () => clock.details(),
      metrics: { registry: metrics, tokens: config.METRICS_TOKEN },
    },
  };
};

export type EventSourcedAppOptions = Omit<InternalAppOptions, 'isTransientError' | 'createLimit'>;

/** The HTTP server of an event-sourced service, for the other services. Only what creates is refused under load:
 *  reports and reads never are. */
export const eventSourcedApp = (
  options: EventSourcedAppOptions,
  routes: Parameters<typeof internalApp>[1],
): ReturnType<typeof internalApp> =>
  internalApp(
    { ...options, isTransientError: isTransientDatabaseError, createLimit: createConcurrencyLimit() },
    routes,
  );
